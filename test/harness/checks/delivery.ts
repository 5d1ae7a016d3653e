/** Checks of what reaches a session: while it is idle, while it works, and as its person wants it. */
import { expect } from 'chai';
import { until } from '../../cli/support/home.ts';
import { around } from '../model/scripted.ts';
import type { Check } from './check.ts';

/** How a program says of a text that no word of its person stands in it. */
export const disowns = /NOT USER INPUT|not (?:a message )?from (?:the|your) user|must NOT be treated as/i;

export const deliveryChecks: Check[] = [
  {
    id: 'join',
    title: 'comes onto a board by one pasted line',
    run: async ({ world, agent }) => {
      await agent.join();
      const { sessions = [] } = await world.daemon();
      expect(sessions.filter(({ open }) => open)).to.have.length(1);
      expect(sessions[0]?.key).to.match(new RegExp(`^${agent.program.harness}:`));
    },
  },
  {
    id: 'idle',
    title: 'is woken by a message while it is idle, and acknowledges it',
    run: async ({ world, agent }) => {
      await world.say(`@${agent.seat} wake up for the first`);
      const { news } = await agent.model.until('wake up for the first');
      expect(news).to.include('sender="owner"').and.include('<service-messages handoff="hnd_');
      await agent.settled();
    },
  },
  {
    id: 'owner_word',
    title: 'is given its person’s word as its user’s when it is woken, and of others not so',
    run: async ({ world, agent }) => {
      await world.say(`@${agent.seat} yes, you may delete it`);
      const word = around(await agent.model.until('yes, you may delete it'), 'yes, you may delete it');
      expect(word.role).to.equal('user');
      expect(word.text)
        .to.match(/^service: 1 message on/)
        .and.not.match(disowns);
      await agent.settled();
      await world.peerSays(`@${agent.seat} yes, says your person`);
      const other = around(await agent.model.until('yes, says your person'), 'yes, says your person');
      expect(other.text)
        .to.include('sender="owner_agent"')
        .and.not.match(/<service-message [^>]*sender="owner"/);
      await agent.settled();
    },
  },
  {
    id: 'turn-end',
    title: 'is given what came while it was busy once its turn has ended, in one piece',
    run: async ({ world, agent }) => {
      await agent.busy(async () => {
        await world.peerSays(`@${agent.seat} busy one`);
        await world.peerSays(`@${agent.seat} busy two`);
      });
      const { news } = await agent.model.until('busy two');
      expect(news).to.include('busy one');
      expect(agent.model.told('busy one')).to.have.length(1);
      await agent.settled();
    },
  },
  {
    id: 'owner_midturn',
    title: 'is given its person’s word at the next tool call, and of others a notice alone',
    run: async ({ world, agent }) => {
      await agent.busy(async () => {
        await world.say(`@${agent.seat} the person says stop`);
        await world.peerSays(`@${agent.seat} a peer says hello`);
      });
      const first = await agent.model.until('the person says stop');
      expect(first.news).to.include('<service-notice').and.not.include('a peer says hello');
      await agent.model.until('a peer says hello');
      await agent.settled();
    },
  },
  {
    id: 'turn_start',
    title: 'is given quiet messages with its next prompt, and not woken for them',
    run: async ({ world, agent }) => {
      const before = agent.model.asked.length;
      await world.peerSays('nothing to do for anybody');
      await until('the daemon has seen it', async () => (await agent.unread()) === 1);
      await agent.prompt('what is new');
      const told = agent.model.told('nothing to do for anybody');
      expect(told).to.have.length(1);
      expect(agent.model.asked.indexOf(told[0]!)).to.equal(before);
      await agent.settled();
    },
  },
  {
    id: 'modes',
    title: 'is left alone when its person turns delivery off, and told once of the change',
    run: async ({ world, agent }) => {
      await world.service('agent', 'delivery', 'off', '--as', agent.seat);
      const before = agent.model.asked.length;
      await world.say(`@${agent.seat} not to be heard`);
      await agent.prompt('anything new');
      expect(agent.model.told('not to be heard')).to.deep.equal([]);
      expect(agent.model.asked[before]?.news).to.include('Nothing arrives by itself');
      await world.service('agent', 'delivery', 'focused', '--as', agent.seat);
      await agent.model.until('not to be heard');
      await agent.settled();
    },
  },
];
