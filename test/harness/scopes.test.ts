/** Codex with hooks of both scopes, the person's and the project's, which it runs side by side for every event. */
import { expect } from 'chai';
import { deliveryChecks } from './checks/delivery.ts';
import { codex } from './programs/codex.ts';
import { World } from './world.ts';

describe(`${codex.name} ${codex.version} with hooks in two places`, function () {
  this.timeout(120_000);
  let world: World;
  after(() => world.end());

  it('is given everything once, by one of each pair', async () => {
    world = await World.make(codex);
    const agent = world.agent(codex);
    const project = ['init', '--yes', '--scope', 'project', '--harness', codex.harness];
    const { stderr } = await world.home.run(project, { cwd: agent.place.project });
    expect(stderr).to.include('runs the hooks of both scopes');
    await agent.open();
    for (const { run } of deliveryChecks) await run({ world, agent });
    const texts = ['busy one', 'busy two', 'the person says stop', 'a peer says hello', 'nothing to do for anybody'];
    for (const text of texts) expect(agent.model.told(text), text).to.have.length(1);
  });
});
