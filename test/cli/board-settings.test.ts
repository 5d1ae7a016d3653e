/** Settings of a board, its people and its agents, from the command line. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { deliveryText } from '../../src/commands/agent/delivery.ts';
import { turnedText } from '../../src/commands/board/visibility.ts';
import { homeWithBoard } from './support/shared.ts';

describe('ruling a board', () => {
  const home = homeWithBoard();
  let url: string;
  let me: string;
  before(async () => {
    const { server, me: who } = await home().json(['whoami']);
    url = server.url;
    me = who.name;
  });

  const failed = async (args: string[], options = {}) => {
    const result = await home().run([...args, '--json'], options);
    return { ...JSON.parse(result.stdout).error, exit: result.code };
  };
  const text = async (args: string[], options = {}) => (await home().run(args, options)).stdout;

  /** Another person of the server, and what lets a command act as them. */
  async function person(handle: string): Promise<Record<string, string>> {
    const key = readFileSync(home().path('data', 'local-key'), 'utf8').trim();
    const call = async (path: string, body: unknown, signed: boolean) => {
      const headers = { 'content-type': 'application/json', ...(signed ? { authorization: `Bearer ${key}` } : {}) };
      const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
      // biome-ignore lint/suspicious/noExplicitAny: what the server answered is used field by field
      return (await answer.json()) as any;
    };
    const { invite } = await call('/v1/invites', {}, true);
    const { key: made } = await call('/v1/connect', { invite, handle, key_name: 'laptop' }, false);
    return { SERVICE_TOKEN: made.token, SERVICE_SERVER: url };
  }

  /** A program that stands in for an editor: it runs this script with the file as `$1`. */
  function editor(name: string, script: string): Record<string, string> {
    const file = join(home().dir, name);
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
    return { EDITOR: file };
  }

  it('prints what it was and what it is now, for programs too', async () => {
    expect(await home().json(['board', 'title'])).to.deep.include({ before: null, after: null, board: 'demo' });
    expect(await home().json(['board', 'title', 'One'])).to.deep.include({ before: null, after: 'One' });
    expect(await home().json(['board', 'prefix', 'ONE'])).to.deep.include({ before: null, after: 'ONE' });
    const { before, after } = await home().json(['board', 'policy', '--set', 'urgent=granted', '--set', 'nudges=off']);
    expect([before.overrides, after.overrides]).to.deep.equal([[], ['urgent', 'nudges']]);
    expect((await home().json(['board', 'policy'])).after).to.deep.equal(after);
    const { roles, changed } = await home().json(['board', 'roles', '--set', 'tester', '--can', 'post,invite']);
    expect([changed, roles.tester, Object.keys(roles)]).to.deep.equal([
      true,
      { can: ['post', 'invite'] },
      ['member', 'tester'],
    ]);
    const again = await home().json(['board', 'roles', '--set', 'tester', '--can', 'post,invite']);
    expect(again.changed).to.equal(false);
    const removed = await home().json(['board', 'roles', '--remove', 'tester']);
    expect(Object.keys(removed.roles)).to.deep.equal(['member']);
    expect(await failed(['board', 'roles', '--remove', 'tester'])).to.include({ code: 'invalid_request', exit: 2 });
    expect(await failed(['board', 'roles', '--set', 'x', '--can', 'fly'])).to.include({ exit: 2 });
  });

  it('takes the board as the first word also where what follows may be left out', async () => {
    await home().json(['board', 'create', 'side', '--no-link']);
    expect((await home().json(['board', 'policy', 'side'])).board).to.equal('side');
    const { board, after } = await home().json(['board', 'policy', 'side', 'recommended']);
    expect([board, after.preset]).to.deep.equal(['side', 'recommended']);
    expect((await home().json(['board', 'policy', 'side', '--set', 'nudges=off'])).after.overrides).to.include(
      'nudges',
    );
    expect((await home().json(['board', 'policy'])).after).to.deep.include({ preset: 'starter' });
    expect((await home().json(['board', 'ack', 'side', '--all'])).board).to.equal('side');
    expect((await home().json(['board', 'visibility', 'side', 'private', '--yes'])).board).to.equal('side');
    expect((await home().json(['board', 'agents-add-people', 'side', 'on', '--yes'])).board).to.equal('side');
    expect(await failed(['board', 'visibility', 'side', 'hidden'])).to.include({ code: 'invalid_request', exit: 2 });
    expect(await failed(['board', 'visibility', 'side'])).to.include({ code: 'invalid_request', exit: 2 });
    expect(await failed(['board', 'policy', 'nowhere'])).to.include({ code: 'board_not_found', exit: 6 });
    for (const args of [['recomended'], ['other', '--board', 'side'], ['Wrong']])
      expect(await failed(['board', 'policy', ...args])).to.include({ code: 'invalid_request', exit: 2 });
    expect(await failed(['board', 'ack', 'side', '--board', 'demo', '--all'])).to.include({ exit: 2 });
  });

  it('gives a role a charter from a file, and says so when only that changed', async () => {
    writeFileSync(join(home().work, 'guide.md'), 'You guide.\n');
    await home().json(['board', 'roles', '--set', 'guide', '--can', 'post']);
    const args = ['board', 'roles', '--set', 'guide', '--charter-file', 'guide.md'];
    expect(await text(args)).to.equal('charter of role guide of demo: changed\n');
    const { roles } = await home().json(['board', 'roles']);
    expect(roles.guide).to.deep.equal({ can: ['post'], charter: 'You guide.' });
    expect(await text(['board', 'roles'])).to.include('guide   post\n    You guide.');
    await home().json(['board', 'roles', '--remove', 'guide']);
  });

  it('edits the charter in an editor, and refuses when somebody changed it meanwhile', async () => {
    await home().json(['board', 'charter', '--set', 'First']);
    const append = editor('append', 'printf "Second\\n" >> "$1"');
    const { charter, changed } = await home().json(['board', 'charter', '--edit'], { env: append });
    expect([charter, changed]).to.deep.equal(['First\nSecond', true]);
    const leave = editor('leave', 'true');
    expect((await home().json(['board', 'charter', '--edit'], { env: leave })).changed).to.equal(false);
    const give = editor('give-up', 'exit 1');
    expect(await failed(['board', 'charter', '--edit'], { env: give })).to.include({ code: 'editor_failed', exit: 1 });
    const slow = editor('slow', `printf "Mine\\n" > "$1"; service board charter --set Theirs >&2`);
    expect(await failed(['board', 'charter', '--edit'], { env: slow })).to.include({ code: 'stale', exit: 7 });
    expect((await home().json(['board', 'charter'])).charter).to.equal('Theirs');
    expect((await home().json(['board', 'charter', '--set', ''])).charter).to.equal('');
  });

  it('keeps the text of the editor where it could not be saved, with the line that gives it again', async () => {
    await home().json(['board', 'charter', '--set', 'First']);
    const theirs = editor('theirs', `printf "Mine\n\nAll of it\n" > "$1"; service board charter --set Theirs >&2`);
    const stale = await failed(['board', 'charter', '--edit'], { env: theirs });
    expect([stale.code, stale.exit]).to.deep.equal(['stale', 7]);
    expect(readFileSync(stale.details.path, 'utf8')).to.equal('Mine\n\nAll of it\n');
    expect(stale.message).to.include(`Your text is now ${stale.details.path}.`);
    const again = `service board charter --file ${stale.details.path} --board demo`;
    expect(stale.hint).to.include(again);
    expect((await home().shell(again)).code).to.equal(0);
    expect((await home().json(['board', 'charter'])).charter).to.equal('Mine\n\nAll of it');
    const long = editor('long', `head -c 20000 /dev/zero | tr '\\0' x > "$1"`);
    const refused = await failed(['board', 'charter', '--edit'], { env: long });
    expect([refused.code, refused.exit]).to.deep.equal(['invalid_request', 1]);
    expect(readFileSync(refused.details.path, 'utf8')).to.have.length(20_000);
    await home().json(['board', 'charter', '--set', '']);
  });

  it('adds people, and lets them join open boards by themselves', async () => {
    const sam = await person('sam');
    const added = await home().json(['board', 'add', '@sam']);
    expect(added.person).to.include({ handle: 'sam', board: 'demo', board_role: 'member' });
    expect(added).not.to.have.any.keys('by_agent', 'by_owner');
    await home().json(['board', 'create', 'open-one', '--no-link']);
    const joined = await home().run(['board', 'add', 'me', '--board', 'open-one'], { env: sam });
    expect(joined.stdout).to.equal('sam is on open-one now.\n');
    const { owners } = await home().json(['board', 'owners'], { env: { ...sam, SERVICE_BOARD: 'demo' } });
    expect(owners.map((owner: { handle: string }) => owner.handle)).to.deep.equal([me]);
  });

  it('says what an agent may not do, with the command for its person', async () => {
    await person('tim');
    await home().json(['agent', 'create', 'helper']);
    const told = await failed(['board', 'add', 'tim', '--as', 'helper']);
    expect(told).to.include({ code: 'agent_session_required', exit: 5 });
    expect(told.details.command).to.equal('service board add tim --board demo');
  });

  it('names people and agents with or without @', async () => {
    await person('ola');
    await home().json(['agent', 'create', 'solo']);
    await home().json(['board', 'add', '@ola']);
    expect(await text(['board', 'remove', '@ola', '--yes'])).to.match(/^ola is off demo/);
    expect((await home().json(['people', 'remove', '@ola', '--dry-run'])).removal.person.handle).to.equal('ola');
    for (const named of ['solo', '@solo', 'solo@demo', '@solo@demo']) {
      expect((await home().json(['whoami', '--as', named])).me.name, named).to.equal('solo');
      expect((await home().json(['agent', 'budget', named])).agent, named).to.equal('solo');
    }
    expect((await home().json(['agent', 'show', '@solo'])).agent.name).to.equal('solo');
    expect(await text(['agent', 'remove', '@solo', '--yes'])).to.match(/^solo is off demo for good/);
  });

  it('says how an agent is named where another board has one of its name', async () => {
    await home().json(['agent', 'create', 'twin']);
    await home().json(['board', 'create', 'twins', '--no-link']);
    expect(await text(['agent', 'create', 'twin', '--board', 'twins'])).to.include('It acts with --as twin@twins,');
    for (const board of ['demo', 'twins']) await home().run(['agent', 'remove', 'twin', '--yes', '--board', board]);
    await home().json(['board', 'archive', 'twins', '--yes']);
  });

  it('makes owners and members of them again', async () => {
    expect(await text(['board', 'owners', '--add', 'sam'])).to.equal('sam owns demo too.\n');
    expect(await home().json(['board', 'owners', '--add', '@sam'])).to.include({ changed: false });
    expect((await home().json(['board', 'owners'])).owners).to.have.length(2);
    expect(await text(['board', 'owners', '--remove', 'sam'])).to.equal('sam no longer owns demo.\n');
    expect(await text(['board', 'owners', '--remove', 'sam'])).to.equal('sam does not own demo.\n');
    expect(await failed(['board', 'owners', '--remove', me])).to.include({ code: 'last_owner', exit: 7 });
    expect(await failed(['board', 'owners', '--add', 'sam', '--remove', 'sam'])).to.include({ exit: 2 });
  });

  it('shows agents with their state, their mode and, to their person, where they are', async () => {
    const { agent, token } = await home().json(['agent', 'create', 'runner', '--print-token']);
    const put = (path: string, body: unknown) =>
      fetch(`${url}/v1/me/${path}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    await put('presence', { presence: 'working', delivery: 'focused' });
    await put('location', { harness: 'codex', session_id: 's1', folder: '/home/dana/project' });
    const { agents } = await home().json(['agents']);
    const found = agents.find(({ id }: { id: string }) => id === agent.id);
    expect(found).to.deep.include({ presence: 'working', delivery: 'focused' });
    expect(found.location).to.include({ folder: '/home/dana/project', harness: 'codex' });
    expect(await text(['agents'])).to.match(/runner {2}demo {2}.* working .*:\/home\/dana\/project just now\n/);
    expect(await text(['agent', 'show', 'runner'])).to.match(/presence +working since just now\n/);
    const set = await home().json(['agent', 'delivery', 'off', '--as', 'runner']);
    expect(set).to.deep.include({
      agent: 'runner',
      mode: 'off',
      revision: 1,
      changed: true,
      applied: 'focused',
      unconfirmed: true,
    });
    expect(await text(['agent', 'delivery', 'off', '--as', 'runner@demo'])).to.equal(
      'runner on demo: off (handed nothing), its daemon still applies focused\n',
    );
    expect(await failed(['agent', 'show', 'nobody'])).to.include({ code: 'member_not_found', exit: 6 });
    expect(await failed(['agent', 'show'])).to.include({ code: 'agent_not_selected', exit: 2 });
    expect((await home().json(['agent', 'show', '--as', 'runner'])).agent.id).to.equal(agent.id);
    const { members } = await home().json(['board', 'agents']);
    expect(members.map(({ kind }: { kind: string }) => kind)).to.deep.equal(['agent', 'agent']);
  });

  it('says why a board cannot be deleted before it asks for its name', async () => {
    const remove = (name: string, options = {}) => failed(['board', 'delete', name], options);
    const eve = await person('eve');
    await home().json(['board', 'create', 'kept', '--no-link']);
    expect(await remove('kept')).to.include({
      code: 'board_not_archived',
      hint: 'Archive it first: service board archive kept',
      exit: 7,
    });
    expect(await remove('kept', { env: eve })).to.include({ code: 'board_creator_required', exit: 5 });
    expect(await remove('nowhere')).to.include({ code: 'board_not_found', exit: 6 });
    const env = eve;
    const { board_record: hidden } = await home().json(['board', 'create', 'eves', '--private', '--no-link'], { env });
    expect(await remove('eves')).to.include({ code: 'board_not_found', exit: 6 });
    expect(await remove(hidden.id)).to.include({ code: 'board_not_archived', exit: 7 });
    await home().json(['board', 'archive', hidden.id, '--yes']);
    expect(await remove(hidden.id)).to.include({ code: 'confirmation_required', exit: 2 });
    await home().json(['board', 'archive', 'kept', '--yes']);
    expect(await remove('kept')).to.include({ code: 'confirmation_required', exit: 2 });
    const [first, again] = [0, 1].map(() => ['board', 'delete', 'kept', '--yes', '--idempotency-key', 'once']);
    await home().json(first!);
    expect(await home().json(again!)).to.include({ lifecycle: 'deleted', replayed: true });
  });

  it('forgets the tokens of seats on a board that it deleted', async () => {
    await home().json(['board', 'create', 'gone', '--no-link']);
    await home().json(['agent', 'create', 'ghost', '--board', 'gone']);
    const { id, lifecycle, changed, board } = await home().json(['board', 'archive', 'gone', '--yes']);
    expect([lifecycle, changed, board]).to.deep.equal(['archived', true, 'gone']);
    expect(await home().json(['board', 'delete', id, '--yes'])).to.include({ id, lifecycle: 'deleted', board: id });
    expect(await failed(['say', '--as', 'ghost', 'x'])).to.include({ code: 'agent_removed', exit: 4 });
    expect(await failed(['board', 'delete', 'gone', '--yes'])).to.include({ code: 'board_not_found', exit: 6 });
  });
});

describe('what became of a board, as text', () => {
  it('names what it reveals or stops', () => {
    const base = { board: 'b', before: 'private', changed: true, dry_run: false, agents_add_people: false } as const;
    const open = { ...base, after: 'open', reveals: { messages: 2, files: 0 }, join_codes_canceled: 0 } as const;
    expect(turnedText(open, 'http://x')).to.equal('b is now open to everyone on http://x.');
    const closed = { ...base, after: 'private', reveals: null, join_codes_canceled: 3 } as const;
    expect(turnedText(closed, 'http://x')).to.equal('b is now private. 3 join codes stopped.');
    expect(turnedText({ ...closed, changed: false }, 'http://x')).to.equal('b is private already.');
  });

  it('says nothing of a daemon that never reported', () => {
    const record = { agent: 'a', mode: 'all', revision: 1, changed: true, applied: null, unconfirmed: true } as const;
    expect(deliveryText(record, 'b')).to.equal('a on b: all (woken by every message)');
  });
});
