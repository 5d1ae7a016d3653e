/** Which files agents are on: the paths of a line, what overlaps it, and who is told. */
import { expect } from 'chai';
import type { BodyIn } from '../../../src/contract/types.ts';
import { newId } from '../../../src/server/text/ids.ts';
import type { Api } from '../../support/api.ts';
import { type Agent, newAgent, newBoard, newDelegation, post } from '../../support/cast.ts';
import { costOf } from '../../support/counting.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { putOnBoard } from '../../support/state.ts';
import { TestStream } from '../../support/stream.ts';

forEachDatabase('files that agents are on', (engine) => {
  let server: TestServer;
  let pam: Api;
  let board: { name: string; id: string };
  let claude: Agent;
  let codex: Agent;
  let round = 0;
  before(async () => {
    server = await startTestServer(engine);
    pam = await server.person('pam');
  });
  beforeEach(async () => {
    board = await newBoard(server.dana);
    await putOnBoard(server, board.name, pam);
    round++;
    claude = await newAgent(server.dana, board.name, { name: `claude-${round}` });
    codex = await newAgent(pam, board.name, { name: `codex-${round}` });
  });
  after(() => server.stop());

  const REPO = 'github.com/acme/api';
  type Line = Partial<BodyIn<'setMyLine'>>;
  const line = (agent: Agent, paths: string[] | undefined, more: Line = {}) =>
    agent.ok('setMyLine', {
      body: { kind: 'working', text: 'on it', repo: REPO, ...(paths ? { paths } : {}), ...more } as BodyIn<'setMyLine'>,
    });
  const told = async (agent: Agent) => (await agent.ok('listNotices')).notices.map(({ kind, text }) => [kind, text]);
  const shared = async (agent: Agent, paths: string[], more: Line = {}) =>
    (await line(agent, paths, more)).overlaps?.map(({ agent: who, path }) => [who, path]);

  /** The seat of a session that a person's machine brings onto a board. */
  const ofSession = async (person: Api, on: string, session: string): Promise<Agent> =>
    newAgent(await newDelegation(person), on, { session });

  /** As many agents as that, each with the line that codex has. @returns their ids */
  const copied = async (count: number): Promise<string[]> => {
    const many = Array.from({ length: count }, () => newId('mem', server.clock.now()));
    await server.db.write(async (tx) => {
      const copy = async (table: string, key: string, more: (id: string) => object) => {
        const [row] = await tx.query<object>((db) => db(table).where(key, codex.memberId).select('*'));
        for (const id of many) await tx.change((db) => db(table).insert({ ...row, [key]: id, ...more(id) }));
      };
      await copy('members', 'id', (id) => ({ name: id.slice(-20).toLowerCase(), token_digest: null }));
      await copy('agent_lines', 'member_id', () => ({}));
    });
    return many;
  };

  it('are named without the secrets in their paths', async () => {
    const secret = `ghp_${'a'.repeat(36)}`;
    const kept = ['src/[redacted:github_token].ts'];
    expect((await line(codex, [`src/${secret}.ts`])).line?.paths).to.deep.equal(kept);
    const task = await server.dana.ok('createTask', { params: { board: board.name }, body: { title: 'Rename it' } });
    const params = { board: board.name, task: task.ref };
    const body = { repo: REPO, paths: [`src/${secret}.ts`] };
    expect((await claude.ok('startTask', { params, body })).overlaps?.map(({ path }) => path)).to.deep.equal(kept);
    expect(JSON.stringify(await pam.ok('listClaims'))).not.to.include(secret);
  });

  it('tell two agents with overlapping paths once each', async () => {
    expect((await line(codex, ['src/http.ts', 'docs/**'], { text: 'Timeouts' })).overlaps).to.deep.equal([]);
    const { overlaps, line: mine } = await line(claude, ['src/**']);
    expect(overlaps).to.have.length(1);
    expect(overlaps?.[0]).to.deep.include({
      agent: codex.name,
      member_id: codex.memberId,
      board: board.name,
      path: 'src/http.ts',
      line: 'Timeouts',
    });
    expect(mine).to.deep.include({ paths: ['src/**'], repo: REPO });
    const notice = ['line_overlap', `${claude.name} on ${board.name} also works on files of your line: src/http.ts.`];
    expect(await told(codex)).to.deep.equal([notice]);
    expect(await told(claude)).to.deep.equal([]);

    // Said again, or in other words, it is nothing new to the other.
    await line(claude, ['src/**']);
    await line(claude, ['src/http.ts', 'src/retry.ts'], { text: 'still on it' });
    expect(await shared(codex, ['src/http.ts'])).to.deep.equal([[claude.name, 'src/http.ts']]);
    expect([await told(codex), await told(claude)]).to.deep.equal([[notice], []]);
    // Away and back again is, as codex has other files now; but once, however often.
    for (let n = 0; n < 3; n++) {
      await line(claude, ['test/**']);
      await line(claude, ['src/**']);
      await claude.ok('clearMyLine');
      await line(claude, ['src/**']);
      server.clock.advance(1_000);
    }
    expect(await told(codex)).to.have.length(2);
    // A line that is set anew is of other work, also on the same files.
    await claude.ok('clearMyLine');
    await line(codex, ['src/http.ts'], { text: 'Retries' });
    await line(claude, ['src/**']);
    expect(await told(codex)).to.have.length(3);
  });

  it('are told of also where an older line has globs that take long to compare', async () => {
    const slow = await newAgent(pam, board.name, { name: `slow-${round}` });
    await line(
      slow,
      Array.from({ length: 20 }, (_, n) => `**/*${'a*b*c*'.repeat(30)}${n}`),
    );
    await line(codex, ['src/http.ts']);
    const apart = await newAgent(pam, board.name, { name: `apart-${round}` });
    await line(apart, ['src/**/*.md']);
    await line(claude, ['**/*.json']);
    expect(await told(codex)).to.deep.equal([]);
    const agents = (await shared(claude, ['src/*.ts', 'src/**/*.ts']))?.map(([agent]) => agent);
    expect(agents).to.include(codex.name).and.not.to.include(apart.name);
    expect(await told(codex)).to.have.length(1);
  });

  it('tell of each other also agents that say it at one moment', async () => {
    for (let n = 0; n < 10; n++) {
      const lines = await Promise.all([line(codex, [`src/${n}.ts`]), line(claude, [`src/${n}.*`])]);
      const last = lines.filter(({ overlaps }) => overlaps?.length === 1);
      expect(last.map(({ name }) => name)).to.have.length(1);
      const first = last[0]?.name === codex.name ? claude : codex;
      expect((await first.ok('listNotices')).notices.at(-1)?.text).to.include(` files of your line: src/${n}.`);
    }
  });

  it('are told again in a kept answer only while their board is one of the agent’s', async () => {
    const hidden = await newBoard(server.dana, { visibility: 'private' });
    await putOnBoard(server, hidden.name, pam);
    const rival = await newAgent(server.dana, hidden.name, { name: `rival-${round}` });
    const session = `codex:s${round}`;
    codex = await ofSession(pam, board.name, session);
    await ofSession(pam, hidden.name, session);
    await line(rival, ['src/http.ts'], { text: 'Unannounced' });
    const body = { kind: 'working', text: 'on it', repo: REPO, paths: ['src/**'] } as const;
    const { ref: task } = await pam.ok('createTask', { params: { board: board.name }, body: { title: 'Retry' } });
    const member = { board: board.name, member: codex.name };
    const again = [
      () => codex.call('setMyLine', { body, key: 'line' }),
      () => pam.call('setAgentLine', { params: member, body, key: 'line' }),
      () =>
        codex.call('startTask', {
          params: { board: board.name, task },
          body: { paths: ['src/**'], repo: REPO },
          key: 'start',
        }),
    ];
    for (const call of again) expect((await call()).text).to.include('Unannounced');
    for (const call of again) expect((await call()).replayed).to.equal(true);
    await pam.ok('leaveBoard', { params: { board: hidden.name } });
    for (const call of again) {
      const { code, text } = await call();
      expect([code, text.includes('Unannounced')]).to.deep.equal(['board_not_found', false]);
    }
  });

  it('are said with the start of a task too, by an agent, and end with the line', async () => {
    const { ref: task } = await server.dana.ok('createTask', {
      params: { board: board.name },
      body: { title: 'Retry' },
    });
    const params = { board: board.name, task };
    await line(codex, ['src/http.ts'], { text: 'Timeouts' });
    const start = (body: BodyIn<'startTask'>) => claude.ok('startTask', { params, body });
    const { overlaps } = await start({ paths: ['src/**'], repo: 'git@github.com:acme/api' });
    expect(overlaps?.map(({ agent, path, line: on }) => [agent, path, on])).to.deep.equal([
      [codex.name, 'src/http.ts', 'Timeouts'],
    ]);
    const mine = async () =>
      (await claude.ok('getMember', { params: { board: board.name, member: claude.name } })).line;
    expect(await mine()).to.deep.include({ source: 'task', text: 'Retry', paths: ['src/**'], repo: REPO });
    expect((await mine())?.task?.ref).to.equal(task);
    expect(await told(codex)).to.have.length(1);
    // Of the task that it is on already it says other files, and the other is told nothing that it knows.
    expect((await start({ paths: ['src/http.ts'], repo: REPO })).overlaps).to.have.length(1);
    expect(await mine()).to.deep.include({ paths: ['src/http.ts'] });
    expect(await told(codex)).to.have.length(1);
    expect(await start({})).not.to.have.property('overlaps');
    const refused = async (by: Api, body: object) => {
      const { status, body: answer } = await by.call('startTask', { params, body });
      return [status, (answer as unknown as { error: { message: string } }).error.message];
    };
    expect(await refused(claude, { paths: ['../x'] })).to.deep.equal([400, 'paths.0: must be inside the repository.']);
    const taken = await server.dana.ok('createTask', { params: { board: board.name }, body: { title: 'Mine' } });
    params.task = taken.ref;
    expect(await refused(server.dana, { paths: ['src/**'] })).to.deep.equal([
      400,
      'paths: belong to the line of an agent, and people have none.',
    ]);
  });

  it('wake nobody: what the other is told is no message', async () => {
    await line(codex, ['src/**']);
    const { head_seq } = await server.dana.ok('getBoard', { params: { board: board.name } });
    await line(claude, ['src/a.ts']);
    expect((await codex.ok('readInbox')).messages).to.deep.equal([]);
    expect((await server.dana.ok('getBoard', { params: { board: board.name } })).head_seq).to.equal(head_seq);
  });

  it('are told to twelve agents with as many statements as to two', async () => {
    const cost = async (name: string) => {
      const agent = await newAgent(server.dana, board.name, { name: `${name}-${round}` });
      return (await costOf(server, () => line(agent, ['src/http.ts']))).writeStatements;
    };
    await line(codex, ['src/**']);
    await line(claude, ['src/**']);
    const two = await cost('first');
    for (let n = 0; n < 9; n++)
      await line(await newAgent(pam, board.name, { name: `other-${n}-${round}` }), ['src/**']);
    expect(await cost('second')).to.equal(two);
    expect(await told(codex)).to.have.length(12);
  });

  it('are told to more agents than SQLite takes rows at once, as messages are', async () => {
    await line(codex, ['src/**']);
    const many = await copied(501);
    const toldIn = async (table: string): Promise<number> => {
      const rows = await server.db.read((tx) =>
        tx.query<{ id: string }>((db) => db(table).select({ id: 'member_id' })),
      );
      return rows.filter(({ id }) => many.includes(id)).length;
    };
    await line(claude, ['src/http.ts']);
    await post(server.dana, board.name, 'hold on', { to: ['role:member'] });
    expect([await toldIn('notices'), await toldIn('message_members')]).to.deep.equal([501, 501]);
  });

  it('are those that were said last where there are more than are read for one answer', async () => {
    await line(codex, ['docs/**']);
    await copied(1_000);
    server.clock.advance(1_000);
    await line(codex, ['src/**']);
    expect(await shared(claude, ['src/http.ts'])).to.deep.equal([[codex.name, 'src/**']]);
    const { claims } = await claude.ok('listClaims');
    expect(claims.slice(-2).map(({ agent }) => agent)).to.deep.equal([codex.name, claude.name]);
  });

  it('are those of one repository, however its address is written', async () => {
    await line(codex, ['src/**'], { repo: 'git@GitHub.com:acme/api.git' });
    expect(await shared(claude, ['src/a.ts'], { repo: 'https://dana:secret@github.com/acme/api' })).to.have.length(1);
    expect(await shared(claude, ['src/a.ts'], { repo: 'https://github.com/acme/web.git' })).to.deep.equal([]);
    const claims = (await claude.ok('listClaims')).claims;
    expect(claims.map(({ repo }) => repo)).to.have.members([REPO, 'github.com/acme/web']);
    expect(JSON.stringify(claims)).not.to.include('secret');
  });

  it('are compared in no repository that has no name: each may be another', async () => {
    const unnamed = { repo: undefined } as unknown as Line;
    expect((await line(codex, ['notes.md'], unnamed)).line).to.deep.include({ repo: null, paths: ['notes.md'] });
    expect(await shared(claude, ['notes.md'], unnamed)).to.deep.equal([]);
    expect(await told(codex)).to.deep.equal([]);
  });

  it('end with the line, and stay where a plan goes on', async () => {
    await line(codex, ['src/**']);
    await line(codex, undefined, { source: 'plan', text: 'next step' });
    expect(await shared(claude, ['src/a.ts'])).to.deep.equal([[codex.name, 'src/**']]);
    await line(codex, undefined, { text: 'something else' });
    expect(await shared(claude, ['src/a.ts'])).to.deep.equal([]);
    await line(codex, ['src/**']);
    await codex.ok('clearMyLine');
    expect(await shared(claude, ['src/a.ts'])).to.deep.equal([]);
    await line(codex, ['src/**']);
    server.clock.advance(12 * 3_600_000);
    expect(await shared(claude, ['src/a.ts']), 'nobody has been there for long').to.deep.equal([]);
  });

  it('are told of on every board that both sessions are on, and listed by each seat for its board', async () => {
    const other = await newBoard(server.dana);
    const session = `claude-code:s${round}`;
    const [here, there] = [
      await ofSession(server.dana, board.name, session),
      await ofSession(server.dana, other.name, session),
    ];
    await line(codex, ['src/**']);
    expect(await shared(there, ['src/a.ts'])).to.deep.equal([[codex.name, 'src/**']]);
    expect(await shared(here, ['src/a.ts'])).to.deep.equal([[codex.name, 'src/**']]);
    expect((await told(codex)).map(([kind]) => kind)).to.deep.equal(['line_overlap']);
    const listed = async (by: Api) => (await by.ok('listClaims')).claims.map(({ member_id: id, own }) => [id, own]);
    expect(await listed(there)).to.deep.equal([[there.memberId, true]]);
    expect(await listed(here)).to.have.deep.members([
      [codex.memberId, false],
      [here.memberId, true],
    ]);
    const gus = await server.person('gus');
    expect((await gus.ok('listClaims')).claims).to.deep.equal([]);
  });

  it('name a session to others on a board by its seat there, and nothing of its other boards', async () => {
    const hidden = await newBoard(pam, { visibility: 'private' });
    const session = `claude-code:n${round}`;
    const inHidden = await newAgent(await newDelegation(pam), hidden.name, { session, name: `rival-${round}` });
    const here = await newAgent(await newDelegation(pam), board.name, { session, name: `omp-${round}` });
    // Another agent on this board has the name that the session has on the other.
    await newAgent(server.dana, board.name, { name: inHidden.name });
    await line(codex, ['src/**']);
    expect(await shared(inHidden, ['src/a.ts', 'secret/**'], { text: 'Unannounced' })).to.deep.equal([
      [codex.name, 'src/**'],
    ]);
    expect((await told(codex)).map(([, text]) => text)).to.deep.equal([
      `${here.name} on ${board.name} also works on files of your line: src/**.`,
    ]);

    const { overlaps } = await line(claude, ['src/*.ts', 'docs/**']);
    const seen = overlaps?.map(({ agent, member_id: id, board: on, path }) => [agent, id, on, path]);
    expect(seen).to.deep.equal([
      [codex.name, codex.memberId, board.name, 'src/**'],
      [here.name, here.memberId, board.name, 'src/*.ts'],
    ]);
    expect(JSON.stringify(overlaps)).not.to.match(new RegExp(`Unannounced|secret|${inHidden.name}|${hidden.name}`));
    expect((await told(here)).map(([, text]) => text)).to.deep.equal([
      `${claude.name} on ${board.name} also works on files of your line: src/a.ts.`,
    ]);
    expect(await told(inHidden)).to.deep.equal([]);
    // A line of the session on this board says more, and it is named once.
    await line(here, ['src/b.ts'], { text: 'Retries' });
    const both = (await line(claude, ['src/*.ts'])).overlaps;
    expect(both?.map(({ agent, line: text }) => [agent, text])).to.have.deep.members([
      [codex.name, 'on it'],
      [here.name, 'Retries'],
    ]);
    await inHidden.ok('leaveSeat');
    await here.ok('clearMyLine');
    expect(await shared(claude, ['src/*.ts'])).to.deep.equal([[codex.name, 'src/**']]);
  });

  it('name a session once whose line was set elsewhere, on however many boards both are', async () => {
    const [other, hidden] = [await newBoard(server.dana), await newBoard(pam, { visibility: 'private' })];
    await putOnBoard(server, other.name, pam);
    const session = `claude-code:t${round}`;
    const inHidden = await ofSession(pam, hidden.name, session);
    const shownAs = [await ofSession(pam, board.name, session), await ofSession(pam, other.name, session)];
    const mine = await ofSession(server.dana, board.name, `codex:t${round}`);
    await ofSession(server.dana, other.name, `codex:t${round}`);
    await line(inHidden, ['src/a.ts']);
    expect(await shared(mine, ['src/*.ts'])).to.have.length(1);
    expect((await Promise.all(shownAs.map(told))).flat()).to.have.length(1);
    // Once it is off one of the boards, the other one is left.
    await shownAs[0]?.ok('leaveSeat');
    expect(await shared(mine, ['src/*.ts'])).to.deep.equal([[shownAs[1]?.name, 'src/*.ts']]);
  });

  it('are no business of an agent that only has the name of one on another board', async () => {
    const hidden = await newBoard(server.dana, { visibility: 'private' });
    await newAgent(server.dana, hidden.name, { name: claude.name });
    const rival = await newAgent(server.dana, hidden.name, { name: `rival-${round}` });
    await line(rival, ['src/http.ts'], { text: 'Unannounced' });
    expect(await shared(claude, ['**'])).to.deep.equal([]);
    expect(await told(rival)).to.deep.equal([]);
    expect((await claude.ok('listClaims')).claims.map(({ agent }) => agent)).to.deep.equal([claude.name]);
  });

  it('are set by its person too, and shown with the line to all', async () => {
    await line(codex, ['src/**']);
    const params = { board: board.name, member: claude.memberId };
    const body = { kind: 'working' as const, text: 'on it', paths: ['src/a.ts'], repo: REPO };
    expect((await server.dana.ok('setAgentLine', { params, body })).overlaps).to.have.length(1);
    expect((await pam.ok('getMember', { params })).line).to.deep.include({ paths: ['src/a.ts'], repo: REPO });
    const stream = await TestStream.open(pam);
    await stream.frame(({ event }) => event === 'ready');
    await line(codex, ['docs/**']);
    const { data } = await stream.frame(({ event, data }) => event === 'presence' && data.member_id === codex.memberId);
    expect(data.line.paths).to.deep.equal(['docs/**']);
    stream.close();
  });

  it('refuse bad globs, 21 paths, and a path out of the repository with the field', async () => {
    const bad: [string[], string][] = [
      [['src/[a'], 'paths.0'],
      [['a', 'src/{a,b'], 'paths.1'],
      [['src/@(a'], 'paths.0'],
      [['a\\'], 'paths.0'],
      [[''], 'paths.0'],
      [['x'.repeat(201)], 'paths.0'],
      [['!src/**'], 'paths.0'],
      [['../other/**'], 'paths.0'],
      [['src/../../etc'], 'paths.0'],
      [['{..,a}/b'], 'paths.0'],
      [['/etc/passwd'], 'paths.0'],
      [['C:/x'], 'paths.0'],
      [['~/x'], 'paths.0'],
      [['a\nb'], 'paths.0'],
      [Array.from({ length: 21 }, (_, i) => `src/${i}`), 'paths'],
      [[], 'paths'],
    ];
    for (const [paths, field] of bad) {
      const answer = await claude.call('setMyLine', { body: { kind: 'working', text: 'x', paths } });
      expect(answer.status, paths.join()).to.equal(400);
      const { code, details } = (answer.body as unknown as { error: { code: string; details: { field: string } } })
        .error;
      expect([code, details.field], paths.join()).to.deep.equal(['invalid_request', field]);
    }
    expect((await server.dana.ok('listClaims')).claims.filter(({ board_id }) => board_id === board.id)).to.deep.equal(
      [],
    );
    await line(
      claude,
      Array.from({ length: 20 }, (_, i) => `src/${i}`),
      { repo: `/${'🦊'.repeat(299)}` },
    );
  });

  it('leave a line without paths as it was', async () => {
    const set = await line(claude, undefined);
    expect(set).not.to.have.property('overlaps');
    expect(set.line).to.have.all.keys('kind', 'text', 'until', 'task', 'set_by', 'source', 'at');
  });
});
