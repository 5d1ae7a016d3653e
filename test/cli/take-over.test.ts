/** Tasks that an agent left, on the command line. */
import { expect } from 'chai';
import { type Hosted, hosted } from './support/hosted.ts';

describe('a task whose agent is gone', () => {
  let at: Hosted;
  before(async () => {
    at = await hosted();
    await at.home.json(['board', 'create', 'payments', '--no-link']);
    for (const name of ['claude', 'codex']) await at.home.json(['agent', 'create', name, '--board', 'payments']);
  });
  after(() => at.close());

  const text = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await at.home.run(args);
    expect(code, stderr).to.equal(0);
    return stdout;
  };
  const refused = async (...args: string[]) => JSON.parse((await at.home.run([...args, '--json'])).stdout).error;

  it('is shown as stale, is taken over, and its former owner’s commands say who has it now', async () => {
    const { task } = await at.home.json(['task', 'new', 'Cap the backoff', '--as', 'claude']);
    const { ref } = task;
    expect(await text('task', 'list', '--board', 'payments')).to.not.include('Stale');
    at.server.clock.advance(31 * 60_000);
    expect(await text('task', 'list', '--board', 'payments')).to.match(/@claude +Stale for \d+m$/m);
    expect(await text('task', 'show', ref, '--board', 'payments')).to.match(/^stale +since .*, its owner is gone$/m);
    expect(await text('inbox'))
      .to.match(
        new RegExp(`Needs you\\n +payments +claude is gone and has ${ref} in progress: "Cap the backoff"$`, 'm'),
      )
      .and.include(`Next: service task start ${ref} --take-over --board payments\n`);

    const taken = await refused('task', 'start', ref, '--as', 'codex');
    expect([taken.code, taken.details.owner.name]).to.deep.equal(['task_taken', 'claude']);
    expect(taken.hint).to.include(`service task start ${ref} --take-over`);
    expect(await text('task', 'start', ref, '--take-over', '--as', 'codex')).to.include(`Started ${ref} on payments`);
    expect(await text('inbox')).to.not.include('is gone and has');

    const late = await refused('task', 'done', 'Done long ago', '--as', 'claude');
    expect([late.code, late.details.owner.name]).to.deep.equal(['task_taken', 'codex']);
    expect(late.message).to.equal(`${ref} was taken from you meanwhile and is now owned by @codex.`);
    // It knows now, and may say as a helper how far it had come.
    expect(await text('task', 'note', 'The cap works, tests are missing', '--as', 'claude')).to.include('is now v1');
    expect(await text('task', 'done', ref, 'The cap is tested', '--as', 'codex')).to.include(`Closed ${ref}`);
  });

  it('is taken by the owner of its board at once, and every change by the agent that had it is refused once', async () => {
    const create = ['agent', 'create', 'job', '--board', 'payments', '--print-token'];
    const { token } = await at.home.json(create);
    const env = { SERVICE_TOKEN: token, SERVICE_SERVER: at.url, SERVICE_BOARD: 'payments' };
    const bySeat = async (...args: string[]) => at.home.run([...args, '--as', 'claude', '--json']);
    const byToken = async (...args: string[]) => at.home.run([...args, '--json'], { env });
    for (const run of [bySeat, byToken])
      for (const [verb, words] of [
        ['note', ['Half done']],
        ['update', ['--stands', 'Half done']],
        ['drop', []],
        ['done', ['Done long ago']],
      ] as const) {
        const { task } = JSON.parse((await run('task', 'new', `To ${verb}`)).stdout);
        expect(await text('task', 'start', task.ref, '--take-over', '--board', 'payments')).to.include('Started');
        const command = ['task', verb, task.ref.toLowerCase(), ...words];
        const keyed = [...command, '--idempotency-key', `taken-${verb}`];
        for (const _ of [1, 2])
          expect(JSON.parse((await run(...keyed)).stdout).error?.code, `${run.name} ${verb}`).to.equal('task_taken');
        if (verb !== 'done') expect((await run(...command)).code, verb).to.equal(0);
      }
  });

  it('is helped with by the agent that gave it up itself, without a word of its being taken', async () => {
    const { ref } = (await at.home.json(['task', 'new', 'To give up', '--as', 'claude'])).task;
    await text('task', 'drop', ref.toLowerCase(), '--as', 'claude');
    await text('task', 'start', ref, '--as', 'codex');
    await text('task', 'join', ref, '--as', 'claude');
    expect(await text('task', 'note', 'Half done', '--as', 'claude')).to.include('is now v1');
  });

  it('is helped with by the agent that it was taken from, whose first note is taken once it has joined', async () => {
    const { ref } = (await at.home.json(['task', 'new', 'To join', '--as', 'claude'])).task;
    await text('task', 'start', ref, '--take-over', '--board', 'payments');
    expect(await text('task', 'join', ref, '--as', 'claude')).to.match(/^You help @?\S+ with /);
    expect(await text('task', 'note', ref, 'Half done', '--as', 'claude')).to.include('is now v1');
  });

  it('is given up twice under one key as one request', async () => {
    const { ref } = (await at.home.json(['task', 'new', 'To give up once', '--as', 'claude'])).task;
    const drop = ['task', 'drop', ref, '--as', 'claude', '--idempotency-key', 'drop-once'];
    for (const _ of [1, 2]) expect(await text(...drop)).to.include(`${ref} is free again.`);
  });

  it('leaves the time after which it is stale to the policy of its board', async () => {
    const set = (value: string) => text('board', 'policy', '--set', `stale_after=${value}`, '--board', 'payments');
    expect(await set('2h')).to.include('stale_after=2h');
    expect(await text('board', 'policy', '--board', 'payments')).to.match(/^stale_after +2h, changed \(an agent gone/m);
    expect(await set('1000')).to.include('-> starter, stale_after=1000s');
    expect(await set('1000s')).to.equal('policy of payments: unchanged\n');
    expect(await set('off')).to.include('stale_after=off');
    expect(await set('30m')).to.match(/-> starter$/m);
    expect((await at.home.run(['board', 'policy', '--set', 'stale_after=soon', '--board', 'payments'])).code).to.equal(
      2,
    );
    expect((await refused('board', 'policy', '--set', 'stale_after=10s', '--board', 'payments')).code).to.equal(
      'invalid_request',
    );
  });
});
