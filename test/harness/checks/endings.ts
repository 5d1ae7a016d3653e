/** Checks of sessions, daemons and programs that end, in order or not, and come back. */
import { expect } from 'chai';
import type { Check } from './check.ts';

export const endingChecks: Check[] = [
  // Before a program is resumed: one may be given a text again, with its id, that it had when it was left.
  {
    id: 'crash',
    title: 'loses nothing when the daemon is killed, and nothing comes twice that was received',
    run: async ({ world, agent }) => {
      const { pid } = await world.daemon();
      process.kill(pid, 'SIGKILL');
      await world.say(`@${agent.seat} said over a crash`);
      // Without a hook that waits, the next one that runs brings the daemon back.
      if (!agent.program.waits) await agent.prompt('anything new');
      await agent.model.until('said over a crash');
      await agent.settled();
      expect(agent.model.told('said over a crash')).to.have.length(1);
      expect(agent.model.told('wake up for the first')).to.have.length(1);
    },
  },
  {
    id: 'resume',
    title: 'holds its seat again when it is resumed',
    run: async ({ world, agent }) => {
      const { id } = await agent.session();
      await agent.quit();
      if (!agent.program.outlives) await agent.closed();
      await world.say(`@${agent.seat} said while it was away`);
      // A conversation without a process is given nothing; one that goes on without its terminal is.
      if (!agent.program.outlives) expect(await agent.unread()).to.equal(1);
      await agent.open(id);
      await agent.prompt('here again');
      await agent.model.until('said while it was away');
      await world.say(`@${agent.seat} said to the resumed one`);
      await agent.model.until('said to the resumed one');
      expect((await agent.session()).id).to.equal(id);
      await agent.settled();
    },
  },
  {
    id: 'resume_wake',
    title: 'is woken after it was resumed, also without a prompt of its person',
    run: async ({ world, agent }) => {
      const { id } = await agent.session();
      await agent.quit();
      if (!agent.program.outlives) await agent.closed();
      const asked = agent.model.asked.length;
      await agent.open(id);
      await world.say(`@${agent.seat} woken without a prompt`);
      const told = await agent.model.until('woken without a prompt');
      expect(agent.model.asked.indexOf(told)).to.equal(asked);
      await agent.settled();
    },
  },
  {
    id: 'kill',
    title: 'loses nothing when the program itself is killed',
    run: async ({ world, agent }) => {
      const { id } = await agent.session();
      await agent.kill();
      await world.say(`@${agent.seat} said after the kill`);
      await agent.open(id);
      await agent.prompt('back from the dead');
      await agent.model.until('said after the kill');
      await agent.settled();
    },
  },
];
