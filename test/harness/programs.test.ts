/**
 * What the delivery daemon promises, shown in the real programs: each session runs in a terminal of its own, with the
 * hooks that `service init` wrote and a scripted model in place of a model. A message counts as delivered when it stands in
 * a request that reached the model.
 */
import { deliveryChecks } from './checks/delivery.ts';
import { endingChecks } from './checks/endings.ts';
import { sessionChecks } from './checks/sessions.ts';
import { claudeCode } from './programs/claude-code.ts';
import { codex } from './programs/codex.ts';
import { Results } from './results.ts';
import { World } from './world.ts';

const results = new Results();

for (const program of [claudeCode, codex]) {
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
  });
}
