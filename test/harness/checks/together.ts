/**
 * A person with two agent programs on one laptop: `service init --yes` once, a session of each on the same board by one pasted
 * line, and then everything that the board has for them at the same time, each told apart from the other.
 */
import { expect } from 'chai';
import { until } from '../../cli/support/home.ts';
import type { Agent } from '../agent.ts';
import type { Program } from '../programs/program.ts';
import { Results } from '../results.ts';
import { World } from '../world.ts';

export function checkTogether(one: Program, two: Program): void {
  const results = new Results();
  describe(`${one.name} and ${two.name} on one laptop`, function () {
    this.timeout(120_000);
    // Each step goes on from where the one before it left both sessions.
    this.bail(true);
    let world: World;
    let first: Agent;
    let second: Agent;
    const both = (run: (agent: Agent) => Promise<void>): Promise<unknown> => Promise.all([first, second].map(run));
    const settled = (): Promise<unknown> => both((agent) => agent.settled());

    before(async () => {
      world = await World.make(one, two);
      first = world.agent(one);
      second = world.agent(two);
      await both((agent) => agent.open());
    });
    after(() => world.end());
    after(() => results.write());

    it('come onto the same board by one pasted line each', async () => {
      await both((agent) => agent.join());
      const { sessions = [] } = await world.daemon();
      const seats = sessions.map(({ key, seats: [seat] = [] }) => [key.split(':')[0], seat?.name]);
      expect(seats).to.have.deep.members([first, second].map(({ program, seat }) => [program.harness, seat]));
    });

    it('are woken one by one: a post to an idle one is none of the other’s', async () => {
      await world.say(`wake up alone, ${one.name}`, '--to', `@${first.seat}`);
      await world.say(`wake up alone, ${two.name}`, '--to', `@${second.seat}`);
      const { news } = await first.model.until(`wake up alone, ${one.name}`);
      expect(news).to.include('sender="owner"').and.not.include(`wake up alone, ${two.name}`);
      await second.model.until(`wake up alone, ${two.name}`);
      await settled();
      expect(second.model.told(`wake up alone, ${one.name}`)).to.deep.equal([]);
    });

    const apart = async (busy: Agent, idle: Agent): Promise<void> => {
      const words = `for both while ${busy.program.name} works`;
      const word = `stop, ${busy.program.name}`;
      await busy.busy(async () => {
        await world.peerSays(`@${busy.seat} @${idle.seat} ${words}`);
        await idle.model.until(words);
        expect(busy.model.told(words)).to.deep.equal([]);
        await world.say(word, '--to', `@${busy.seat}`);
      });
      // The tool call that ran was the next one that could take the person's word; the peer's had to wait for the turn's end.
      const told = await busy.model.until(word);
      expect(told.news).to.include('sender="owner"').and.not.include(words);
      await busy.model.until(words);
      await settled();
      expect(busy.model.told(words)).to.have.length(1);
      expect(idle.model.told(words)).to.have.length(1);
      expect(idle.model.told(word)).to.deep.equal([]);
    };

    it('keep to their own turns: what both are told wakes the idle one, and waits for the end of the other’s turn', async () => {
      await apart(first, second);
      await apart(second, first);
    });

    const talk = async (asking: Agent, asked: Agent): Promise<void> => {
      const question = `what do you say, ${asked.program.name}?`;
      const answer = `${asked.program.name} says good morning`;
      asked.answers(question, answer);
      asking.model.runOn('ask the other', `service say --to @${asked.seat} --expect-reply '${question}'`);
      await asking.prompt('ask the other one');
      const { news } = await asked.model.until(question);
      expect(news).to.include(`from="@${asking.seat}"`).and.include('sender="owner_agent"');
      const told = await asking.model.until(answer);
      expect(told.news).to.include(`from="@${asked.seat}"`).and.include('reply-to="');
      await settled();
    };

    it('talk with each other by the commands that their bundles print', async () => {
      await results.of(two, 'together', () => talk(first, second));
      await results.of(one, 'together', () => talk(second, first));
    });

    const nested = async (outer: Agent, inner: Agent): Promise<void> => {
      const words = `started in ${outer.program.name}`;
      const word = `not for the one in ${outer.program.name}`;
      outer.model.runOn('start the other program', inner.program.once(inner.place, words));
      inner.model.on(words, async () => {
        await world.say(word, '--to', `@${outer.seat}`);
        return { run: 'service whoami --json; service code create --board demo --json' };
      });
      await outer.prompt('start the other program');
      await outer.model.until(word);
      await settled();
      // Nobody there holds a seat, and a command of the person's is refused as in any session.
      const asked = inner.model.asked.filter(({ conversation }) => conversation.includes(words));
      expect(asked.at(-1)!.news.match(/"agent_not_selected"/g)).to.have.length(2);
      expect(asked.filter(({ conversation }) => conversation.includes(word))).to.deep.equal([]);
      expect(outer.model.told(word)).to.have.length(1);
      await until('its session is over', async () => (await world.daemon()).open_sessions === 2);
    };

    it('are told apart also where one starts the other by a command: that is a session of its own, without a seat', async () => {
      await results.of(one, 'nested', () => nested(first, second));
      await results.of(two, 'nested', () => nested(second, first));
    });

    const upgraded = async (): Promise<void> => {
      const { pid } = await world.daemon();
      const [waiting, late] = ['said before the upgrade', 'said after the upgrade'];
      await first.busy(async () => {
        await world.peerSays(`@${first.seat} ${waiting}`);
        await world.upgrade('999.0.0');
        const now = await world.daemon();
        expect(now.build.version).to.equal('999.0.0');
        expect(now.pid).to.not.equal(pid);
        await world.say(late, '--to', `@${second.seat}`);
        await second.model.until(late);
      });
      await first.model.until(waiting);
      await world.say('and one more for both', '--to', `@${first.seat}`, '--to', `@${second.seat}`);
      await both(async ({ model }) => void (await model.until('and one more for both')));
      await settled();
      for (const [agent, text] of [
        [first, waiting],
        [second, late],
      ] as const)
        expect(agent.model.told(text)).to.have.length(1);
    };

    it('lose nothing when the daemon is replaced by a newer one while one works and one waits', async () => {
      await results.of(two, 'upgrade', () => results.of(one, 'upgrade', upgraded));
    });
  });
}
