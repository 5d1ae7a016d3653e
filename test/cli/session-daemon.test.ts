/** Commands in a session of an agent's program, with the daemon that knows its seats and holds the machine's delegation. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Frame, ScriptedDaemon } from '../daemon/support/scripted-daemon.ts';
import { DoctorMachine } from './support/doctor/machine.ts';
import { collect, finished, until } from './support/home.ts';
import { homeWithBoard } from './support/shared.ts';

const session = { SERVICE_SESSION: 'claude-code:one', SERVICE_BOOT: 'feedfeedfeedfeed', CLAUDECODE: '1' };

describe('a session with a daemon', () => {
  const home = homeWithBoard();
  let daemon: ScriptedDaemon;
  let seat: { id: string; board_id: string };
  before(async () => {
    seat = (await home().json(['agent', 'create', 'codex', '--board', 'demo'])).agent;
  });
  beforeEach(async () => {
    daemon = await new ScriptedDaemon(home().store).listen();
  });
  afterEach(() => daemon.close());

  const run = async (args: string[], env: Record<string, string> = session) => {
    const result = await home().run([...args, '--json'], { env });
    return { code: result.code, json: JSON.parse(result.stdout) };
  };
  const ref = async () => {
    const { url } = (await home().json(['whoami', '--as', 'codex'])).server;
    return { server: url, board: 'demo', name: 'codex', member_id: seat.id, board_id: seat.board_id };
  };
  const saved = () => {
    const { servers } = JSON.parse(readFileSync(home().path('config', 'credentials.json'), 'utf8'));
    return Object.values(servers as Record<string, { seats: Record<string, { session: string | null }> }>)
      .map(({ seats }) => seats[seat.id])
      .find(Boolean);
  };

  it('acts as the seat that the daemon says it holds', async () => {
    const own = await ref();
    daemon.answers.agents = (_, peer) =>
      peer.send({ seats: [{ ...own, mode: 'all' }], boot: 'feedfeedfeedfeed', turn: 'busy' });
    const { json } = await run(['whoami']);
    expect(json.me).to.include({ kind: 'agent', name: 'codex' });
    const [frame] = daemon.of('agents');
    expect(frame).to.include({ harness: 'claude-code', session: 'one', boot: 'feedfeedfeedfeed' });
    expect(frame!.process).to.include({ pid: process.pid });
  });

  it('shows what waits in its program until the turn ends, as the daemon tells it', async () => {
    const { server, member_id, board_id } = await ref();
    const waiting = { server, board_id, member_id, board: 'demo', seq: 7, boundary: 'turn_end' as const };
    const queued = [{ ...waiting, message_id: 'msg_01K5A0000000000000000000P1' }];
    daemon.answers.queued = (_, peer) => peer.send({ queued });
    expect((await run(['inbox', '--queued'])).json.queued).to.deep.equal(queued);
    expect(daemon.of('queued')[0]).to.include({ harness: 'claude-code', session: 'one', boot: 'feedfeedfeedfeed' });
    const { stdout } = await home().run(['inbox', '--queued'], { env: session });
    expect(stdout).to.equal('1 message waits for the end of the turn.\n  demo #7\n');
  });

  it('takes a board for the linked one only at the server of the link', async () => {
    const { board_record: board } = await home().json(['board', 'show', '--board', 'demo']);
    daemon.answers.boards = (_, peer) => peer.send({ boards: [board], archived_count: 0 });
    const path = join(home().work, '.service');
    const link = readFileSync(path, 'utf8');
    const listed = async () => (await run(['board', 'list', '--server', 'local'])).json.boards[0].linked;
    expect(await listed()).to.equal(true);
    writeFileSync(path, JSON.stringify({ server: 'https://team.example.com', board: 'demo' }));
    expect(await listed()).to.equal(false);
    writeFileSync(path, link);
  });

  it('opens the page of its seat’s server, at the board of the seat', async () => {
    const own = await ref();
    daemon.answers.agents = (_, peer) => peer.send({ seats: [{ ...own, mode: 'all' }], boot: 'feedfeedfeedfeed' });
    const { json } = await run(['open', '--print'], { ...session, SERVICE_SERVER: 'https://team.example.com' });
    expect(json).to.include({ ui_url: `${own.server}/?board=demo`, url: null });
  });

  it('holds none that the daemon does not name, and none of which this machine has no token', async () => {
    daemon.answers.agents = (_, peer) =>
      peer.send({ seats: [{ server: 'http://127.0.0.1:1', board: 'x', name: 'y', member_id: seat.id, mode: 'all' }] });
    expect((await run(['whoami'])).json.error.code).to.equal('agent_not_selected');
  });

  it('is refused at a server where it has no seat, before anything is sent', async () => {
    const own = await ref();
    daemon.answers.agents = (_, peer) =>
      peer.send({ seats: [{ ...own, mode: 'all' }], boot: 'feedfeedfeedfeed', turn: 'busy' });
    const path = home().path('config', 'credentials.json');
    const credentials = JSON.parse(readFileSync(path, 'utf8'));
    const other = 'https://team.example.com';
    const entry = { server_id: 'srv_x', name: 'team', mode: 'team', person: null, key: null, seats: {} };
    writeFileSync(path, JSON.stringify({ ...credentials, servers: { ...credentials.servers, [other]: entry } }), {
      mode: 0o600,
    });
    const { code, json } = await run(['whoami', '--server', 'team']);
    writeFileSync(path, JSON.stringify(credentials), { mode: 0o600 });
    expect([code, json.error.code]).to.deep.equal([2, 'session_on_another_server']);
    expect(json.error.details.servers).to.deep.equal([own.server]);
  });

  it('tells it what it asked its person for, and asks all the same where nobody listens', async () => {
    const own = await ref();
    daemon.answers.agents = (_, peer) =>
      peer.send({ seats: [{ ...own, mode: 'all' }], boot: 'feedfeedfeedfeed', turn: 'busy' });
    daemon.answers.approval_watch = (_, peer) => peer.send({});
    const { code, json } = await run(['invite', 'create', '--handle', 'maya']);
    expect([code, json.state]).to.deep.equal([0, 'pending']);
    const [frame, ...others] = daemon.of('approval_watch');
    expect(frame).to.deep.include({
      approval_id: json.approval.id,
      agent: own,
      harness: 'claude-code',
      session: 'one',
    });
    expect(others).to.deep.equal([]);
    daemon.answers.approval_watch = (_, peer) => peer.send({ error: { code: 'session_unknown', message: 'who' } });
    expect((await run(['invite', 'create', '--handle', 'nils'])).json.state).to.equal('pending');
    await daemon.close();
    expect((await run(['invite', 'create', '--as', 'codex'])).json.state).to.equal('pending');
  });

  it('is told which seat another session took from it, and how to take that back', async () => {
    const own = await ref();
    daemon.answers.agents = (_, peer) => peer.send({ lost: [own], boot: 'feedfeedfeedfeed', turn: 'busy' });
    const { json } = await run(['say', 'still me?']);
    expect(json.error).to.include({
      code: 'agent_not_selected',
      message: 'Another session took the seat of this one, codex on demo.',
      hint: 'To take it back: service resume codex@demo',
    });
    const path = home().path('config', 'credentials.json');
    const before = readFileSync(path, 'utf8');
    const credentials = JSON.parse(before);
    const mine = Object.values(credentials.servers as Record<string, { seats: Record<string, object> }>)[0]!;
    const seats = { mem_01K5A0000000000000000000P2: mine.seats[seat.id]! };
    credentials.servers['https://board.example'] = { ...mine, mode: 'team', name: 'board', key: null, seats };
    writeFileSync(path, JSON.stringify(credentials));
    const several = await run(['say', 'still me?', '--server', 'local']).finally(() => writeFileSync(path, before));
    expect(several.json.error.hint).to.equal(`To take it back: service resume ${seat.id}`);
  });

  it('takes a seat of this machine, and is made known first', async () => {
    let known = false;
    daemon.answers.register = (_, peer) => {
      known = true;
      peer.send({ boot: 'feedfeedfeedfeed' });
    };
    daemon.answers.bind = (_, peer) =>
      known
        ? peer.send({ mode: 'focused', seats: [] })
        : peer.send({ error: { code: 'session_unknown', message: 'who' } });
    const { code, json } = await run(['resume', 'codex']);
    expect(code, JSON.stringify(json)).to.equal(0);
    expect(json).to.include({ session: 'claude-code:one', mode: 'focused', previous: null });
    expect(json.agent).to.include({ id: seat.id });
    expect(daemon.of('bind').at(-1)!.agent).to.deep.equal(await ref());
    // Whether its boot still runs is not for a command to say.
    expect(daemon.of('register')[0]).not.to.have.property('boot');
    expect(saved()).to.include({ session: 'claude-code:one' });
  });

  it('finds, joins and makes boards by the machine’s delegation, never by its person’s key', async () => {
    const { board_record: board } = await home().json(['board', 'show', '--board', 'demo']);
    const { agent } = await home().json(['agent', 'show', 'codex', '--board', 'demo']);
    daemon.answers.boards = (frame, peer) =>
      frame.after
        ? peer.send({ server: 's', boards: [board] })
        : peer.send({ server: 's', boards: [board], next_after: 'n' });
    expect((await run(['boards'])).json.boards).to.have.length(2);
    const joined = (_: Frame, peer: { send(frame: Frame): void }) =>
      peer.send({ joined: true, board, member: agent, mode: 'focused', seats: [], reused: true });
    daemon.answers.join = joined;
    const { json } = await run(['join', '--board', 'demo', '--name', 'codex', '--role', 'reviewer']);
    expect(json).to.include({ reused: true, mode: 'focused' });
    expect(json.use.bound_session).to.equal('claude-code:one');
    expect(daemon.of('join')[0]).to.deep.include({ role: 'reviewer' });
    daemon.answers.create_board = joined;
    const pair = await run(['pair', '--new', '--name', 'first', '--idempotency-key', 'k0']);
    expect(pair.json.use.bound_session, JSON.stringify(pair.json)).to.equal('claude-code:one');
    expect(pair.json.join.line).to.match(/^Join service board demo on localhost:\d+ as member with code /);
    const made = await run(['board', 'create', 'fresh', '--title', 'T', '--no-link', '--idempotency-key', 'k1']);
    expect(made.json.join_command).to.equal('service join --board demo');
    const there = await run(['board', 'create', 'fresh', '--no-link', '--server', 'local']);
    expect(there.json.join_command).to.equal('service join --board demo --server local');
    expect(daemon.of('create_board')[0]).to.deep.include({ pair: true, agent_name: 'first' });
    const { events } = await home().json(['audit', 'log', '--board', 'demo', '--type', 'joincode.created']);
    expect(events.at(-1).actor).to.include({ kind: 'agent', name: 'codex' });
    expect(daemon.of('create_board')[1]).to.deep.include({
      create: { name: 'fresh', title: 'T' },
      idempotency_key: 'k1',
    });
  });

  it('may have made a board that was not answered; where to look is at the server that was named', async () => {
    daemon.answers.create_board = (_, peer) => peer.send({ error: { code: 'daemon_stopping', message: 'It stops.' } });
    for (const args of [
      ['board', 'create', 'fresh', '--no-link'],
      ['pair', '--new'],
    ]) {
      const { error } = (await run([...args, '--server', 'local'])).json;
      expect([error.code, error.hint], args.join(' ')).to.deep.equal([
        'server_unreachable',
        'Look before you try again: service boards --server local; then join it: service join --board NAME --server local',
      ]);
    }
  });

  it('is refused as the server refuses, with the exit code that has everywhere', async () => {
    for (const [code, exit] of [
      ['board_archived', 7],
      ['board_not_found', 6],
      ['agent_removed', 4],
      ['login_required', 4],
      ['guest_not_allowed', 5],
    ] as const) {
      daemon.answers.join = (_, peer) => peer.send({ error: { code, message: 'm', hint: 'h' } });
      const refused = await run(['join', '--board', 'demo']);
      expect([refused.code, refused.json.error.code]).to.deep.equal([exit, code]);
    }
  });

  it('stops with `server_unreachable` where the daemon is gone before it says whether a board was made, and makes nothing more', async () => {
    daemon.answers.create_board = (_, peer) => peer.close();
    const { code, json } = await run(['board', 'create', 'perhaps', '--no-link']);
    expect([code, json.error.code]).to.deep.equal([8, 'server_unreachable']);
    expect(json.error.hint).to.contain('boards');
    expect(daemon.of('create_board')).to.have.length(1);
  });

  it('is needed for boards: a program that does not say its session, and a named seat, get none', async () => {
    const nameless = await run(['boards'], { CLAUDECODE: '1' });
    expect([nameless.code, nameless.json.error.code]).to.deep.equal([5, 'agent_session_required']);
    const seated = await run(['pair', '--as', 'codex']);
    expect([seated.code, seated.json.error.code]).to.deep.equal([5, 'agent_session_required']);
    expect(seated.json.error.hint).to.equal('Leave --as out: service pair --json');
    expect(daemon.of('create_board')).to.deep.equal([]);
  });

  it('leaves out of its inbox what the daemon has handed already, and holds deliveries while it reads', async () => {
    const own = await ref();
    const say = async (body: string) =>
      (await home().json(['say', body, '-b', 'demo', '--to', '@codex', '--no-notes'])).message.seq as number;
    const [first, second] = [await say('handed'), await say('new')];
    let open = 0;
    daemon.answers.agents = (_, peer) =>
      peer.send({ seats: [{ ...own, mode: 'all' }], boot: 'feedfeedfeedfeed', turn: 'busy' });
    daemon.answers.inbox = (_, peer) => {
      open++;
      peer.send({ held: true, received: [first] });
    };
    const { json } = await run(['inbox']);
    expect(json.messages.map(({ seq }: { seq: number }) => seq)).to.deep.equal([second]);
    expect(json).to.include({ acked_up_to: second });
    expect([open, daemon.of('inbox')[0]!.session]).to.deep.equal([1, 'one']);
    expect(daemon.of('inbox')[0]!.agent).to.include({ member_id: seat.id });
    expect((await run(['inbox', '--peek'])).json.messages).to.deep.equal([]);
    expect(daemon.of('inbox')[1]).to.include({ peek: true });
  });

  it('waits for what it was not given yet, whether it has shown that it received the rest or not', async () => {
    const own = await ref();
    const say = async (body: string) =>
      (await home().json(['say', body, '-b', 'demo', '--to', '@codex', '--no-notes'])).message.seq as number;
    daemon.answers.agents = (_, peer) =>
      peer.send({ seats: [{ ...own, mode: 'all' }], boot: 'feedfeedfeedfeed', turn: 'busy' });
    for (const [args, given] of [
      [['inbox', 'wait', '60'], 'handed'],
      [['inbox', 'wait', '60'], 'received'],
      [['inbox', '--peek', '--wait', '60'], 'handed'],
      [['inbox', '--wait', '60'], 'received'],
    ] as const) {
      await home().run(['inbox', '--as', 'codex'], { env: {} });
      const handed = await say('wake up');
      daemon.answers.inbox = (_, peer) => peer.send({ held: true, [given]: [handed] });
      const waiting = home().start([...args, '--json', '--verbose'], { env: session });
      const printed = collect(waiting);
      await until('it waits', () => printed().stderr.includes('GET /v1/me/inbox'));
      const seq = await say('something new');
      expect((await finished(waiting)).code).to.equal(0);
      const { messages, timed_out } = JSON.parse(printed().stdout);
      expect(
        messages.map((message: { seq: number }) => message.seq),
        `${args.join(' ')}, ${given}`,
      ).to.deep.equal([seq]);
      expect(timed_out).to.equal(false);
    }
  });

  /** Has the daemon hold a reply back, which then comes by this command. */
  async function repliesWith(reply: (seq: string) => Promise<unknown>): Promise<void> {
    const own = await ref();
    daemon.answers.agents = (_, peer) =>
      peer.send({ seats: [{ ...own, mode: 'all' }], boot: 'feedfeedfeedfeed', turn: 'busy' });
    let replied = false;
    daemon.answers.hold = (frame, peer) => {
      peer.send({ held: true });
      // What is claimed is held once more, on a connection of its own.
      if (!replied) void reply(String(frame.reply_to));
      replied = true;
    };
    daemon.answers.claim = (_, peer) => peer.send({ claimed: [] });
  }

  it('shows a reply that it waits for itself, and tells the daemon that it did', async () => {
    await repliesWith((seq) => home().json(['say', 'here it is', '-b', 'demo', '--reply', seq, '--no-notes']));
    const { json } = await run(['say', 'when?', '--wait-reply', '20']);
    expect(json.reply.body).to.equal('here it is');
    expect(daemon.of('hold')[0]).to.include({ reply_to: json.message.id });
    expect(daemon.of('claim').map(({ seqs }) => seqs)).to.deep.equal([
      [
        json.reply.seq,
        ...json.owner_messages
          .filter(({ seq }: { seq: number }) => seq !== json.reply.seq)
          .map(({ seq }: { seq: number }) => seq),
      ],
    ]);
  });

  it('shows the answer that an ask waits for itself, and tells the daemon that it did', async () => {
    let answered: Promise<{ message: { seq: number } }> | undefined;
    await repliesWith((seq) => (answered = home().json(['answer', seq, '-b', 'demo', '--option', '2'])));
    const { json } = await run(['ask', 'Which?', 'This', 'That', '--wait', '20']);
    expect(json.answer).to.include({ option: 2 });
    expect(daemon.of('hold')[0]).to.include({ reply_to: json.message.id });
    expect(daemon.of('claim').map(({ seqs }) => seqs)).to.deep.equal([[(await answered)!.message.seq]]);
  });

  it('has replies delivered that a command waited for and did not show', async () => {
    const claims = async (...flags: string[]) => {
      const before = daemon.of('claim').length;
      await repliesWith((seq) => home().json(['say', 'here it is', '-b', 'demo', '--reply', seq, '--no-notes']));
      await home().run(['say', 'when?', '--wait-reply', '20', ...flags], { env: session });
      return daemon.of('claim').length - before;
    };
    expect(await claims('-q')).to.equal(0);
    expect(await claims('--jq', '.message.seq')).to.equal(0);
    expect(await claims('--jq', '.reply.body')).to.equal(1);
  });

  it('is asked what it delivered before a post tells what is unread', async () => {
    const own = await ref();
    const say = async (body: string) =>
      (await home().json(['say', body, '-b', 'demo', '--to', '@codex', '--no-notes'])).message.seq as number;
    const [first, second, third] = [await say('received'), await say('handed'), await say('new')];
    daemon.answers.agents = (_, peer) =>
      peer.send({ seats: [{ ...own, mode: 'all' }], boot: 'feedfeedfeedfeed', turn: 'busy' });
    daemon.answers.inbox = (_, peer) => peer.send({ held: true, received: [first], handed: [second] });
    const { json } = await run(['say', 'and now?']);
    expect(json.unread.seqs).to.include(third).and.to.not.include.members([first]).and.to.not.include.members([second]);
    expect(json.unread.count).to.equal(json.unread.seqs.length);
    expect(daemon.of('inbox').at(-1)).to.deep.include({ peek: true });
  });

  it('is told what a session has read for itself', async () => {
    const own = await ref();
    daemon.answers.agents = (_, peer) =>
      peer.send({ seats: [{ ...own, mode: 'all', generation: 4 }], boot: 'feedfeedfeedfeed', turn: 'busy' });
    const { json } = await run(['read', '--limit', '1']);
    const [message] = json.messages;
    expect(daemon.of('shown').map(({ messages, generation }) => [messages, generation])).to.deep.equal([
      [[{ board_id: seat.board_id, member_id: seat.id, message_id: message.id, seq: message.seq }], 4],
    ]);
    await run(['read', '--limit', '1'], { ...session, SERVICE_BOOT: '0000000000000000' });
    await run(['read', '--limit', '1'], { ...session, SERVICE_SUBAGENT: 's1' });
    await home().run(['read', '--limit', '1', '--quiet'], { env: session });
    expect(daemon.of('shown')).to.have.length(1);
  });

  it('is told only of messages whose texts were printed', async () => {
    const own = await ref();
    daemon.answers.agents = (_, peer) =>
      peer.send({ seats: [{ ...own, mode: 'all', generation: 4 }], boot: 'feedfeedfeedfeed', turn: 'busy' });
    const read = async (...args: string[]) => {
      const before = daemon.of('shown').length;
      expect((await home().run(['read', '--limit', '2', ...args], { env: session })).code).to.equal(0);
      return daemon.of('shown').length - before;
    };
    for (const args of [
      ['-q'],
      ['--json=seq,from'],
      ['--ndjson', '--jq', '.seq'],
      ['--jq', '.messages|length'],
      ['--jq', '.messages[0].body'],
      ['--jq', '.messages[].body[:3]'],
    ])
      expect(await read(...args), args.join(' ')).to.equal(0);
    for (const args of [
      [],
      ['--json=seq,body'],
      ['--jq', '.messages[].body'],
      ['--ndjson', '--jq', '.body'],
      ['--markdown'],
    ])
      expect(await read(...args), args.join(' ')).to.equal(1);
  });

  it('is told a mode that its person set', async () => {
    await home().json(['agent', 'delivery', 'humans', '--as', 'codex@demo']);
    expect(daemon.of('mode').map(({ mode, revision }) => [mode, revision])).to.deep.equal([['humans', 1]]);
    await home().json(['agent', 'delivery', 'focused', '--as', 'codex@demo']);
  });

  it('network blocked in a sandbox: its commands fail with `sandbox_blocks_network`, and the daemon outside is asked nothing', async () => {
    const env = {
      CODEX_THREAD_ID: 't',
      CODEX_SANDBOX: 'seatbelt',
      CODEX_SANDBOX_NETWORK_DISABLED: '1',
      SERVICE_SERVER: 'http://127.0.0.1:9',
      SERVICE_TOKEN: `aba_${'x'.repeat(43)}`,
    };
    const { code, json } = await run(['whoami'], env);
    expect([code, json.error.code]).to.deep.equal([8, 'sandbox_blocks_network']);
    expect(json.error.hint).to.include('service init');
    expect((await run(['status'], env)).json.problem.code).to.equal('sandbox_blocks_network');
    expect(daemon.frames.filter(({ op }) => op === 'shutdown')).to.deep.equal([]);
    expect((await home().run(['board', 'list', '--json'])).code).to.equal(0);
  });

  it('redeems a code through the daemon, also where it has seats on several boards already', async () => {
    const own = await ref();
    const { board_record: board } = await home().json(['board', 'show', '--board', 'demo']);
    const { agent } = await home().json(['agent', 'show', 'codex', '--board', 'demo']);
    const { code, join_line: line } = (await home().json(['code', 'create', '--board', 'demo'])).code;
    daemon.answers.join = (_, peer) => peer.send({ joined: true, board, member: agent, mode: 'focused', seats: [] });
    const seats = [
      { ...own, mode: 'all' },
      { ...own, mode: 'all', board: 'other' },
    ];
    for (const held of [[], seats.slice(0, 1), seats]) {
      daemon.answers.agents = (_, peer) => peer.send({ seats: held, boot: 'feedfeedfeedfeed', turn: 'busy' });
      const { json } = await run(['join', line, '--name', 'liner', '--idempotency-key', 'k2']);
      expect(json.use?.bound_session, JSON.stringify(json)).to.equal('claude-code:one');
      expect((await run(['join', code, '--name', 'liner', '--idempotency-key', 'k2'])).code).to.equal(0);
      const [byLine, byCode] = daemon.of('join').slice(-2);
      expect(byLine).to.deep.include({
        code,
        idempotency_key: 'k2',
        agent: { server: own.server, board: 'demo', name: 'liner' },
      });
      expect(byCode).to.deep.include({ code, idempotency_key: 'k2', agent: { server: own.server, name: 'liner' } });
    }
    const elsewhere = line.replace(/on localhost:\d+/, 'on team.example.com');
    expect((await run(['join', elsewhere])).json.error.code).to.equal('server_unknown');
    expect((await run(['join', elsewhere, '--server', 'local'])).json.error.code).to.equal('invalid_request');
    expect(daemon.of('join')).to.have.length(6);
  });

  it('starts no daemon from a sandbox, whose fix it names', async () => {
    daemon.crash();
    const env = { CODEX_THREAD_ID: 't', CODEX_SANDBOX: 'seatbelt' };
    const { code, json } = await run(['boards'], env);
    expect([code, json.error.code]).to.deep.equal([1, 'daemon_in_sandbox']);
    expect(json.error.hint).to.include('service init');
  });

  it('says which of the two a sandbox without a network keeps it from: the daemon alone, or the server too', async () => {
    daemon.crash();
    const env = { CODEX_THREAD_ID: 't', CODEX_SANDBOX: 'seatbelt', CODEX_SANDBOX_NETWORK_DISABLED: '1' };
    const answered = await run(['boards'], env);
    expect([answered.code, answered.json.error.code]).to.deep.equal([1, 'daemon_in_sandbox']);
    const { code, json } = await run(['boards'], { ...env, SERVICE_LOCAL_ADDR: '127.0.0.1:9' });
    expect([code, json.error.code]).to.deep.equal([8, 'sandbox_blocks_network']);
    expect(json.error.hint).to.include('service init');
  });

  describe('in a subagent', () => {
    const part = { ...session, SERVICE_SUBAGENT: 'sub1' };
    it('only reads, even as a named seat', async () => {
      for (const args of [
        ['say', 'hi'],
        ['say', 'hi', '--as', 'codex'],
        ['inbox'],
        ['join', '--board', 'demo'],
        ['resume', 'codex'],
        ['doctor', '--fix'],
        ['audit', 'verify', '--board', 'demo', '--accept', 'brd_1'],
      ]) {
        const { code, json } = await run(args, part);
        expect([code, json.error.code], args.join(' ')).to.deep.equal([5, 'subagent_without_seat']);
      }
      expect(daemon.frames).to.deep.equal([]);
      expect((await run(['read', '--as', 'codex', '--board', 'demo'], part)).code).to.equal(0);
      expect((await run(['version'], part)).code).to.equal(0);
    });

    it('is told also by the ids of a thread and its root', async () => {
      const { json } = await run(['say', 'hi'], { CODEX_THREAD_ID: 'child', CODEX_SESSION_ID: 'root' });
      expect(json.error.code).to.equal('subagent_without_seat');
    });
  });

  it('is no place for a person’s commands, also where only a mark of the program is seen', async () => {
    for (const env of [session, { CLAUDECODE: '1' }, { SERVICE_SESSION: 'unknown:x' }]) {
      const { code, json } = await run(['key', 'list'], env as never);
      expect([code, json.error.code]).to.deep.equal([5, 'human_command_in_session']);
    }
  });
});

describe('a session of Codex, whose commands are told no boot, with the real daemon', () => {
  const machine = new DoctorMachine();
  after(() => machine.close());

  it('shows what waits in its program until the turn ends', async () => {
    await machine.json(['init', '--yes', '--allow-commands', '--harness', 'codex']);
    await machine.json(['board', 'create', 'demo']);
    const env = { CODEX_THREAD_ID: 'one', CODEX_SESSION_ID: 'one' };
    await machine.json(['join', '--board', 'demo', '--name', 'codex'], { env });
    const queued = async () => (await machine.json(['inbox', '--queued'], { env })).queued;
    expect(await queued()).to.deep.equal([]);
    const { seq } = (await machine.json(['say', 'hi', '--to', '@codex', '--board', 'demo'])).message;
    await until('it is in the queue', async () => (await queued())[0]?.seq === seq);
  });
});
