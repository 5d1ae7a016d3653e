/** Checks of the session that is meant, and of no other: subagents, compacted and cleared conversations, takeovers. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { until } from '../../cli/support/home.ts';
import type { Asked } from '../model/scripted.ts';
import { board } from '../world.ts';
import type { Check } from './check.ts';

export const sessionChecks: Check[] = [
  {
    id: 'subagent',
    title: 'has subagents that are given nothing, and may read and not write',
    run: async ({ world, agent }) => {
      const { model, seat } = agent;
      const go = join(agent.place.project, 'helper-is-done');
      model.on('use a helper', () => ({ delegate: 'work for the helper' }));
      // Where a program goes on while its subagent works, its own next tool call waits for that one's end.
      model.runOn('"agent_id"', `while [ ! -e ${go} ]; do sleep 0.1; done; echo the helper has ended`);
      model.runOn('the helper has ended', 'echo a tool call of its own');
      model.on('work for the helper', async () => {
        await world.say(`@${seat} not for the helper`);
        return { run: 'echo a tool call of the helper' };
      });
      model.runOn('a tool call of the helper', 'service say from-the-helper --json');
      model.runOn('subagent_without_seat', `service board read --board ${board}`);
      const isHelper = ({ conversation }: Asked): boolean => conversation.includes('work for the helper');
      model.script((asked) => {
        if (!isHelper(asked) || !asked.news.includes('not for the helper')) return undefined;
        writeFileSync(go, '');
        return { say: 'The helper has seen what waits.' };
      });
      const own = await agent.prompt('use a helper');
      const told = (): Asked[] =>
        model.told('not for the helper').filter(({ conversation }) => conversation.includes(own));
      await until('the session itself is told', () => told().length > 0);
      await until('the helper has ended', () => existsSync(go));
      await agent.settled();
      expect(told()).to.have.length(1);
      expect(told()[0]!.news).to.include('<service-message ');
      const helper = model.asked.filter(isHelper);
      expect(helper.filter(({ conversation }) => conversation.includes('handoff="hnd_'))).to.deep.equal([]);
      // What it asked for it was shown.
      expect(helper.some(({ news }) => news.includes('not for the helper'))).to.equal(true);
    },
  },
  {
    id: 'compact',
    title: 'keeps its seat when its conversation is compacted, and is told again who it is',
    run: async ({ world, agent }) => {
      const before = await agent.session();
      await agent.terminal!.command('/compact', (screen) => /compacted/i.test(screen));
      await world.say(`@${agent.seat} said after compacting`);
      const { conversation } = await agent.model.until('said after compacting');
      expect(conversation).to.include(`You are ${agent.seat} on ${board}`);
      expect(await agent.session()).to.deep.equal(before);
      await agent.settled();
    },
  },
  {
    id: 'takeover',
    title: 'hears nothing more once another session has taken its seat, and is told how to take it back',
    run: async ({ world, agent }) => {
      const { model, seat } = agent;
      const { id } = await agent.session();
      const second = await agent.beside();
      const taking = await second.prompt('take the seat over');
      model.runOn('take it now', `service agent resume ${seat} --json`);
      await second.prompt('take it now');
      const taker = await agent.sessionAfter(id);
      await world.say(`@${seat} for whoever holds the seat`);
      expect((await model.until('for whoever holds the seat')).conversation).to.include(taking);
      await agent.settled();

      await agent.quit();
      await agent.open(id);
      const back = await agent.prompt('is it still mine');
      const [, command] = /To take it back: (service resume \S+)/.exec(model.told(back)[0]!.news) ?? [];
      expect(command, 'the command that takes it back').to.match(new RegExp(`^service resume ${seat}@`));
      model.runOn('then take it back', `${command} --json`);
      await agent.prompt('then take it back');
      expect(await agent.sessionAfter(taker)).to.equal(id);
      await world.say(`@${seat} for the first again`);
      expect((await model.until('for the first again')).conversation)
        .to.include(back)
        .and.not.include(taking);
      await agent.settled();
      expect(model.told('for whoever holds the seat')).to.have.length(1);
      await second.kill();
    },
  },
  {
    id: 'clear',
    title: 'begins without a seat when it is cleared, and is given nothing before it takes one',
    run: async ({ world, agent }) => {
      const { model, seat } = agent;
      const { id } = await agent.session();
      const last = await agent.prompt('the last before clearing');
      await agent.terminal!.command(agent.program.anew, (screen) => !screen.includes(last));
      await world.say(`@${seat} for the one from before`);
      model.runOn('who are you now', 'service whoami --json');
      const fresh = await agent.prompt('who are you now');
      await model.until('"agent_not_selected"');
      const isFresh = ({ conversation }: Asked): boolean => conversation.includes(fresh);
      expect(model.told('for the one from before').filter(isFresh)).to.deep.equal([]);
      model.runOn('be that agent', `service agent resume ${seat} --json`);
      await agent.prompt('be that agent');
      await agent.sessionAfter(id);
      await world.say(`@${seat} for the cleared one`);
      const { conversation } = await model.until('for the cleared one');
      expect(conversation).to.include(fresh).and.not.include(last);
      await agent.settled();
    },
  },
];
