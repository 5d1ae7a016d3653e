/** People who leave, are taken off a board and are removed from the server. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { pruned, prunedRows } from '../../src/commands/agent/prune.ts';
import type { Home } from './support/home.ts';
import { homeWithBoard } from './support/shared.ts';

describe('taking people off', () => {
  const home = homeWithBoard();
  let url: string;
  before(async () => {
    ({ url } = (await home().json(['whoami'])).server);
  });

  /** A request with the key of the server's owner, or without any. */
  async function api(method: string, path: string, body: unknown, signed = true) {
    const key = readFileSync(home().path('data', 'local-key'), 'utf8').trim();
    const answer = await fetch(url + path, {
      method,
      headers: { 'content-type': 'application/json', ...(signed ? { authorization: `Bearer ${key}` } : {}) },
      body: JSON.stringify(body),
    });
    // biome-ignore lint/suspicious/noExplicitAny: what the server answered is checked field by field
    return (await answer.json()) as any;
  }

  /** Another person of the server, and what lets a command act as them. */
  async function person(handle: string): Promise<Record<string, string>> {
    const { invite } = await api('POST', '/v1/invites', {});
    const { key } = await api('POST', '/v1/connect', { invite, handle, key_name: 'laptop' }, false);
    return { SERVICE_TOKEN: key.token, SERVICE_SERVER: url };
  }

  const add = (handle: string, board = 'demo') => api('POST', `/v1/boards/${board}/people`, { handle });
  const agent = (env: Record<string, string>, name: string, board = 'demo') =>
    home().json(['agent', 'create', name, '--board', board, '--print-token'], { env });
  const failed = async (args: string[], options = {}) => {
    const result = await home().run([...args, '--json'], options);
    return { ...JSON.parse(result.stdout).error, exit: result.code };
  };

  it('tells an owner which agents end with a membership, and that an open board takes people back', async () => {
    const sam = await person('sam');
    await add('sam');
    await agent(sam, 'sams-agent');
    const asked = await failed(['board', 'remove', 'sam']);
    expect(asked).to.include({ code: 'confirmation_required', exit: 2 });
    expect(asked.message).to.equal('Take sam off demo? Their 1 agent there ends too: sams-agent.');
    const { stdout, code } = await home().run(['board', 'remove', 'sam', '--yes']);
    expect(stdout).to.equal('sam is off demo; it is open, so they may join again.\n');
    expect(code).to.equal(0);
    expect(await failed(['board', 'remove', 'sam', '--yes'])).to.include({ code: 'person_not_on_board', exit: 6 });

    await add('sam');
    const { person: again } = await home().json(['board', 'remove', 'sam', '--yes']);
    expect(again).to.include({ handle: 'sam', board: 'demo', board_role: 'member' });
  });

  it('lets a person leave with their agents, whose tokens are forgotten here', async () => {
    const pam = await person('pam');
    await add('pam');
    await agent(pam, 'pams-agent');
    const asked = await failed(['board', 'leave', '--board', 'demo'], { env: pam });
    expect(asked.message).to.equal('Leave demo? Your 1 agent there ends too: pams-agent.');
    const { stdout } = await home().run(['board', 'leave', '--board', 'demo', '--yes'], { env: pam });
    expect(stdout).to.equal('Left demo; your 1 agent there ended.\n');
    expect(await failed(['board', 'leave', '--board', 'demo', '--yes'], { env: pam })).to.include({
      code: 'not_on_board',
      exit: 5,
    });
    expect(await failed(['brief', 'show', '--board', 'demo'], { env: pam })).to.include({
      code: 'not_on_board',
      message: 'You are not on the board demo.',
      exit: 5,
    });
    expect(await failed(['board', 'leave', '--yes'])).to.include({ code: 'last_owner', exit: 7 });

    await home().json(['board', 'create', 'second', '--no-link']);
    await add('pam', 'second');
    await api('POST', '/v1/boards/second/owners', { handle: 'pam' });
    await home().json(['agent', 'create', 'mine', '--board', 'second']);
    await home().json(['board', 'leave', '--board', 'second', '--yes']);
    expect(seats(home())['mine']).to.not.have.property('token');
  });

  it('repeats under its key what takes away a name, a file, a role or a place on a board', async () => {
    const env = await person('kay');
    await add('kay');
    writeFileSync(`${home().work}/plan.md`, 'a plan');
    await home().json(['file', 'put', 'plan.md', '--name', 'plans/old.md']);
    await home().json(['board', 'roles', '--set', 'reviewer', '--can', 'post']);
    for (const [n, line] of [
      'file rename plans/old.md plans/new.md',
      'file remove plans/new.md --yes',
      'board roles --remove reviewer',
      'board leave --board demo --yes',
      'people rename me kayla --yes',
    ].entries()) {
      const args = [...line.split(' '), '--idempotency-key', `again-${n}`];
      const options = n < 3 ? {} : { env };
      const { changed: _, ...first } = await home().json(args, options);
      const { changed: __, replayed: ___, ...again } = await home().json(args, options);
      expect(again, line).to.deep.equal(first);
    }
  });

  it('says what removing a person would stop, does nothing when only asked, and then does it', async () => {
    const rob = await person('rob');
    await add('rob');
    await agent(rob, 'robs-agent');
    const robs = { env: rob };
    await home().json(['board', 'create', 'robs', '--private', '--no-link'], robs);
    const dry = await home().run(['people', 'remove', 'rob', '--dry-run']);
    expect(dry.stdout).to.match(
      new RegExp(
        `^Removing rob from ${url} stops 1 key, 0 browser sessions, 1 agent; they leave 2 boards\\.\nNobody could read brd_\\w{26} again\\.\n$`,
      ),
    );
    const asked = await failed(['people', 'remove', 'rob']);
    expect(asked.message).to.include('stops 1 key').and.to.include('Remove rob?');
    await home().json(['whoami'], robs);
    const { removal } = await home().json(['people', 'remove', 'rob', '--yes']);
    expect(removal).to.include({ dry_run: false, keys_revoked: 1, agents_removed: 1, boards_left: 2 });
    expect(await failed(['whoami'], robs)).to.include({ exit: 4 });

    await person('ron');
    const { stdout } = await home().run(['people', 'remove', 'ron', '--yes']);
    expect(stdout).to.equal(`Removed ron from ${url}: 1 key, 0 browser sessions, 0 agents stopped; left 0 boards.\n`);
  });

  it('removes agents of a private board by ids only, and takes no person for an agent', async () => {
    const una = await person('una');
    const { board_record: board } = await home().json(['board', 'create', 'unas', '--private', '--no-link'], {
      env: una,
    });
    const { agent: hidden } = await agent(una, 'hidden', 'unas');
    expect(await failed(['agent', 'remove', 'hidden', '--board', 'unas', '--yes'])).to.include({ exit: 6 });
    const removed = await home().run(['agent', 'remove', hidden.id, '--board', board.id, '--yes']);
    expect(removed.stdout).to.equal(`${hidden.id} is off ${board.id} for good; what it wrote stays.\n`);

    await add('una');
    const person_ = await failed(['agent', 'remove', 'una', '--yes']);
    expect(person_).to.include({ code: 'invalid_request', exit: 2 });
    expect(person_.hint).to.equal('service board remove una --board demo');
    const { id } = (await home().json(['board', 'show'])).board_record;
    expect(await failed(['agent', 'remove', 'una', '--board', id, '--yes'])).to.include({ exit: 2 });
    await home().json(['agent', 'create', 'plain']);
    const { agent: gone, board: name } = await home().json(['agent', 'remove', 'plain', '--board', id, '--yes']);
    expect(gone).to.include({ name: 'plain', removed_by: 'person', board: 'demo' });
    expect(name).to.equal('demo');
    expect(seats(home())['plain']).to.not.have.property('token');
  });
});

function seats(home: Home): Record<string, Record<string, unknown>> {
  const saved = JSON.parse(readFileSync(home.path('config', 'credentials.json'), 'utf8'));
  const all = Object.values(saved.servers as Record<string, { seats: Record<string, { name: string }> }>);
  return Object.fromEntries(all.flatMap(({ seats }) => Object.values(seats).map((seat) => [seat.name, seat])));
}

describe('pruning as text', () => {
  const agent = {
    id: 'mem_01K5A0000000000000000000M1',
    name: 'codex',
    board: 'demo',
    board_id: 'brd_01K5A0000000000000000000B1',
    owner: 'sam',
    owner_id: 'hum_01K5A0000000000000000000H1',
    disconnected_since: '2026-03-02T09:00:00.000Z',
  };
  const hidden = { ...agent, id: 'mem_01K5A0000000000000000000M2', name: null, board: null };
  const answer = { disconnected_for: 604_800, all: true, dry_run: true, agents: [agent, hidden], kept: [] };

  it('lists who goes, with ids where names are not told', async () => {
    expect(await prunedRows({ ...answer, more: true }, '7d', 'iso')).to.deep.equal([
      '2 agents without a session for 7d',
      'NAME                            BOARD                           OWNER  NO SESSION SINCE',
      'codex                           demo                            sam    2026-03-02T09:00:00.000Z',
      `${hidden.id}  ${agent.board_id}  sam    2026-03-02T09:00:00.000Z`,
      '…and more: these go first.',
    ]);
  });

  it('says who went and who came back meanwhile', () => {
    const done = { ...answer, dry_run: false, agents: [hidden], kept: [agent.id] };
    expect(pruned(done, answer)).to.equal(
      `Removed 1 agent: ${hidden.id} on ${agent.board_id}\nKept codex: it came back meanwhile.`,
    );
    expect(pruned({ ...done, agents: [] }, answer)).to.match(/^Removed no agent\.\n/);
  });
});
