/**
 * What the delivery daemon promises, shown in the real programs: each session runs in a terminal of its own, with the
 * hooks that `service init` wrote and a scripted model in place of a model. A message counts as delivered when it stands in
 * a request that reached the model.
 */
import { expect } from 'chai';
import { until } from '../cli/support/home.ts';
import type { Agent } from './agent.ts';
import { claudeCode } from './programs/claude-code.ts';
import { codex } from './programs/codex.ts';
import { Results } from './results.ts';
import { World } from './world.ts';

const results = new Results();

for (const program of [claudeCode, codex]) {
  describe(`${program.name} ${program.version}`, function () {
    this.timeout(120_000);
    let world: World;
    let agent: Agent;
    // Each check goes on from where the one before it left the session.
    this.bail(true);

    const check = (id: string, title: string, run: () => Promise<void>): void => {
      it(title, async () => {
        await results.of(program, id, run);
      });
    };

    before(async () => {
      world = await World.make(program);
      agent = world.agent(program);
      await agent.open();
    });
    after(() => world.end());
    after(() => results.write());

    check('join', 'comes onto a board by one pasted line', async () => {
      await agent.join();
      const { sessions } = await world.daemon();
      expect(sessions.filter((one: { open: boolean }) => one.open)).to.have.length(1);
      expect(sessions[0].key).to.match(new RegExp(`^${program.harness}:`));
    });

    check('idle', 'is woken by a message while it is idle, and acknowledges it', async () => {
      await world.say(`@${agent.seat} wake up for the first`);
      const { news } = await agent.model.until('wake up for the first');
      expect(news).to.include('sender="owner"').and.include('<service-messages handoff="hnd_');
      await agent.settled();
    });

    check('turn-end', 'is given what came while it was busy once its turn has ended, in one piece', async () => {
      await agent.busy(async () => {
        await world.peerSays(`@${agent.seat} busy one`);
        await world.peerSays(`@${agent.seat} busy two`);
      });
      const { news } = await agent.model.until('busy two');
      expect(news).to.include('busy one');
      expect(agent.model.told('busy one')).to.have.length(1);
      await agent.settled();
    });

    check(
      'owner_midturn',
      'is given its person’s word at the next tool call, and of others a notice alone',
      async () => {
        await agent.busy(async () => {
          await world.say(`@${agent.seat} the person says stop`);
          await world.peerSays(`@${agent.seat} a peer says hello`);
        });
        const first = await agent.model.until('the person says stop');
        expect(first.news).to.include('<service-notice').and.not.include('a peer says hello');
        await agent.model.until('a peer says hello');
        await agent.settled();
      },
    );

    check('turn_start', 'is given quiet messages with its next prompt, and not woken for them', async () => {
      const before = agent.model.asked.length;
      await world.peerSays('nothing to do for anybody');
      await until('the daemon has seen it', async () => (await agent.unread()) === 1);
      await agent.prompt('what is new');
      const told = agent.model.told('nothing to do for anybody');
      expect(told).to.have.length(1);
      expect(agent.model.asked.indexOf(told[0]!)).to.equal(before);
      await agent.settled();
    });

    check('modes', 'is left alone when its person turns delivery off, and told once of the change', async () => {
      await world.service('agent', 'delivery', 'off', '--as', agent.seat);
      const before = agent.model.asked.length;
      await world.say(`@${agent.seat} not to be heard`);
      await agent.prompt('anything new');
      expect(agent.model.told('not to be heard')).to.deep.equal([]);
      expect(agent.model.asked[before]?.news).to.include('Nothing arrives by itself');
      await world.service('agent', 'delivery', 'focused', '--as', agent.seat);
      await agent.model.until('not to be heard');
      await agent.settled();
    });

    check('resume', 'holds its seat again when it is resumed', async () => {
      const id = await agent.session();
      await agent.quit();
      if (!program.outlives) await agent.closed();
      await world.say(`@${agent.seat} said while it was away`);
      await agent.open(id);
      await agent.prompt('here again');
      await agent.model.until('said while it was away');
      await world.say(`@${agent.seat} said to the resumed one`);
      await agent.model.until('said to the resumed one');
      expect(await agent.session()).to.equal(id);
      await agent.settled();
    });

    check('crash', 'loses nothing when the daemon is killed, and nothing comes twice that was received', async () => {
      const { pid } = await world.daemon();
      process.kill(pid, 'SIGKILL');
      await world.say(`@${agent.seat} said over a crash`);
      // Without a hook that waits, the next one that runs brings the daemon back.
      if (!program.waits) await agent.prompt('anything new');
      await agent.model.until('said over a crash');
      await agent.settled();
      expect(agent.model.told('said over a crash')).to.have.length(1);
      expect(agent.model.told('wake up for the first')).to.have.length(1);
    });

    check('kill', 'loses nothing when the program itself is killed', async () => {
      const id = await agent.session();
      await agent.kill();
      await world.say(`@${agent.seat} said after the kill`);
      await agent.open(id);
      await agent.prompt('back from the dead');
      await agent.model.until('said after the kill');
      await agent.settled();
    });
  });
}
