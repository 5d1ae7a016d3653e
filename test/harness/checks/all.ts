/** Every check of one program, one after the other in one session's life. */
import { expect } from 'chai';
import type { Program } from '../programs/program.ts';
import { Results } from '../results.ts';
import { World } from '../world.ts';
import { deliveryChecks, disowns } from './delivery.ts';
import { endingChecks } from './endings.ts';
import { sessionChecks } from './sessions.ts';

export function checkProgram(program: Program): void {
  const results = new Results();
  describe(`${program.name} ${program.version}`, function () {
    this.timeout(120_000);
    let world: World;
    // Each check goes on from where the one before it left the session.
    this.bail(true);

    before(async () => {
      world = await World.make(program);
      await world.agent(program).open();
    });
    after(() => world.end());
    after(() => results.write());

    for (const { id, title, run } of [...deliveryChecks, ...endingChecks, ...sessionChecks])
      it(title, () => results.of(program, id, () => run({ world, agent: world.agent(program) })));

    it('has never been told of its person’s word that it is not its user’s', () => {
      const { asked } = world.agent(program).model;
      const words = asked.flatMap(({ parts }) => parts.filter(({ text }) => text.includes('sender="owner" seq=')));
      expect(words.length).to.be.above(5);
      expect(words.filter(({ text }) => disowns.test(text)).map(({ text }) => text)).to.deep.equal([]);
    });
  });
}
