/** Tasks, asks and lines as agents and scripts use them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { Api } from '../support/api.ts';
import { FaultProxy } from '../support/fault-proxy.ts';
import { finished, until } from './support/home.ts';
import { homeWithBoard } from './support/shared.ts';
import { Stranger } from './support/stranger.ts';

describe('work from the command line', () => {
  const home = homeWithBoard();
  let person: string;
  before(async () => {
    for (const name of ['claude', 'codex']) await home().json(['agent', 'create', name]);
    person = (await home().json(['whoami'])).me.name;
  });

  /** Everything that was said on standard error with a command. */
  const said = async (args: string[]): Promise<string> => (await home().run(args)).stderr;
  const reminders = async (args: string[]): Promise<string[]> =>
    ((await home().json(args)).nudges ?? []).map(({ code }: { code: string }) => code);

  it('gives a task, its line and what is next as one record', async () => {
    const free = (await home().json(['task', 'new', 'A free one'])).task;
    const made = await home().json(['task', 'new', 'A big one', '--as', 'claude']);
    expect(made.task).to.include({ title: 'A big one', state: 'in_progress' });
    expect(made.line).to.include({ kind: 'working', text: 'A big one', source: 'task' });
    expect([made.next, made.nudges.map(({ code }: { code: string }) => code)]).to.deep.equal([null, ['first_task']]);
    const { me } = await home().json(['whoami', '--as', 'claude']);
    expect(me.current_task.ref).to.equal(made.task.ref);
    const status = await home().json(['status', '--as', 'claude']);
    expect([status.current_task.ref, status.line.text]).to.deep.equal([made.task.ref, 'A big one']);
    const closed = await home().json(['task', 'done', 'It is', '--as', 'claude']);
    expect([closed.line, closed.next.ref]).to.deep.equal([null, free.ref]);
    const text = `${free.ref} is open: service task start ${free.ref} --as claude`;
    expect(closed.nudges).to.deep.equal([{ code: 'next_task', text }]);
    const byPerson = await home().json(['task', 'drop', free.ref, '--member', 'codex']).catch(String);
    expect(byPerson).to.include('not_on_task');
  });

  it('lists tasks for programs, one by one and page by page', async () => {
    const { tasks, counts, next_after } = await home().json(['task', 'list', '--state', 'all', '--limit', '1']);
    expect([tasks.length, counts.done]).to.deep.equal([1, 1]);
    const rest = await home().json(['task', 'list', '--state', 'all', '--limit', '1', '--after', next_after]);
    expect(rest.tasks.length).to.be.greaterThan(0);
    const lines = (await home().run(['task', 'list', '--state', 'all', '--ndjson'])).stdout.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).ref)).to.deep.equal(
      [...tasks, ...rest.tasks].map((task: { ref: string }) => task.ref),
    );
    const page = await home().run(['task', 'list', '--state', 'all', '--limit', '1']);
    expect(page.stdout).to.match(/\nMore: service task list --state all --limit 1 --after \S+\n$/);
    const everywhere = await home().run(['task', 'list', '--all-boards']);
    expect(everywhere.stdout).to.match(/^http:\/\/127\.0\.0\.1:\d+ · \d+\n/);
  });

  it('refuses a note over one that somebody wrote meanwhile, and takes its text from a pipe', async () => {
    const { task } = await home().json(['task', 'new', 'Noted', '--as', 'claude']);
    const piped = await home().shell('printf "from a pipe\\n" | service task note --as claude');
    expect(piped.stdout).to.equal(`${task.ref}: where it stands is now v1\n`);
    const stale = await home().run(['task', 'update', task.ref, '--stands', 'x', '--base', '0', '--as', 'claude']);
    expect([stale.code, stale.stderr.split('\n', 1)[0]]).to.satisfy(
      ([code, line]: [number, string]) => code === 7 && line.startsWith('Error (stands_changed)'),
    );
    const empty = await home().shell('printf "" | service task note --as claude');
    expect([empty.code, empty.stderr]).to.satisfy(
      ([code, text]: [number, string]) => code === 2 && /body_empty/.test(text),
    );
    await home().run(['task', 'note', '--as', 'claude', '--', task.ref]);
    expect((await home().json(['task', 'show', task.ref])).task.stands.text).to.equal(task.ref);
    const none = await home().run(['task', 'note', 'no task', '--json']);
    const { error } = JSON.parse(none.stdout);
    expect([none.code, error.code, error.details.tasks]).to.deep.equal([1, 'no_current_task', []]);
    await home().json(['task', 'done', 'noted', '--as', 'claude']);
  });

  it('takes the latest answer to an ask where a repeat waits for it', async () => {
    const ask = [
      'ask',
      `@${person}`,
      'Delete?',
      'Yes',
      'No',
      '--wait',
      '0',
      '--as',
      'claude',
      '--idempotency-key',
      'ask-1',
    ];
    const { message } = await home().json(ask);
    for (const option of ['1', '2']) await home().json(['answer', String(message.seq), '--option', option]);
    expect((await home().json(ask)).answer.option_text).to.equal('No');
  });

  it('waits for the answer to an ask, and fails a script that expected another one', async () => {
    const asking = home().start([
      'ask',
      `@${person}`,
      'Revert?',
      'Revert',
      'Leave it',
      '--wait',
      '60',
      '--expect-option',
      '1',
      '--json',
      '--as',
      'claude',
    ]);
    const ended = finished(asking);
    let seq = 0;
    await until('the ask is there', async () => {
      seq = (await home().json(['asks', '--can-answer'])).asks[0]?.seq ?? 0;
      return seq > 0;
    });
    const answered = await home().json(['answer', String(seq), '--option', '2']);
    expect(answered.ask.ask).to.include({ state: 'answered', answer_option: 2 });
    expect(answered.message.body).to.equal('Leave it');
    const { code, stdout } = await ended;
    const { answer } = JSON.parse(stdout);
    expect([code, answer.option, answer.option_text, answer.by.name]).to.deep.equal([3, 2, 'Leave it', person]);
    const late = await home().run([
      'ask',
      'And?',
      'Yes',
      'No',
      '--wait',
      '1',
      '--expect-option',
      '1',
      '--json',
      '--as',
      'claude',
    ]);
    expect([late.code, JSON.parse(late.stdout).timed_out]).to.deep.equal([3, true]);
    const own = JSON.parse(late.stdout).message.seq;
    await home().json(['withdraw', String(own), '--as', 'claude']);
    expect(await said(['ask', 'nobody named'])).to.include('Say whom you ask');
  });

  it('says that a number in the place of the words picked no option, and how it is picked', async () => {
    const { message } = await home().json(['ask', 'Which cap?', '5', '10', '--as', 'claude']);
    const { seq } = message;
    const answered = await home().json(['answer', String(seq), '2']);
    expect(answered.message.answer.option).to.equal(null);
    expect(answered.warnings).to.deep.equal([
      {
        code: 'no_option_picked',
        message: 'The answer is the text "2"; no option was picked.',
        hint: `service answer ${seq} --option 2`,
      },
    ]);
    expect(await home().json(['answer', String(seq), '5'])).to.not.have.property('warnings');
    expect(await home().json(['answer', String(seq), '3'])).to.not.have.property('warnings');
  });

  it('names what was posted where the ask cannot be read after it was answered or withdrawn', async () => {
    const proxy = await new FaultProxy((await home().json(['whoami'])).server.url).listen();
    const { token } = await home().json(['agent', 'create', 'asker', '--print-token']);
    const asker = { SERVICE_TOKEN: token, SERVICE_SERVER: proxy.url, SERVICE_BOARD: 'demo' };
    const answerer = { ...asker, SERVICE_TOKEN: readFileSync(home().path('data', 'local-key'), 'utf8').trim() };
    const { seq } = (await home().json(['ask', 'Which cap?', '5', '10'], { env: asker })).message;
    proxy.fail('GET /v1/messages/', { status: 404, code: 'message_not_found' });
    for (const [words, env, n] of [
      [['answer', `${seq}`, '--option', '1'], answerer, 1],
      [['withdraw', `${seq}`], asker, 2],
    ] as const) {
      const { code, stdout } = await home().run([...words, '--json'], { env });
      const { error } = JSON.parse(stdout);
      expect([code, error.code, error.details?.posted?.seq], words[0]).to.deep.equal([6, 'message_not_found', seq + n]);
      expect(error.message, words[0]).to.match(new RegExp(` #${seq + n} was posted\\.$`));
    }
    await proxy.down();
  });

  it('refuses the name of a member without its @ in the place of the question, before anybody is asked', async () => {
    const before = (await home().json(['asks', '--state', 'all'])).asks.length;
    for (const who of [[], ['--as', 'claude']]) {
      const { code, stderr } = await home().run(['ask', 'codex', 'Which one?', 'This', 'That', ...who]);
      expect(code).to.equal(2);
      expect(stderr).to.equal(
        `Error (invalid_request): codex is a member of demo, not a question.\nHint: Name whom you ask with @: service ask @codex "Which one?" "This" "That"${who.length > 0 ? ' --as claude' : ''}\n`,
      );
    }
    expect((await home().json(['asks', '--state', 'all'])).asks.length).to.equal(before);
    const { message } = await home().json(['ask', 'Really', 'Yes', '--as', 'claude']);
    expect(message.body).to.equal('Really');
  });

  it('refuses what can only be meant as whom to ask in the place of the question, before anybody is asked', async () => {
    const before = (await home().json(['asks', '--state', 'all'])).asks.length;
    const refused: [string[], string, string][] = [
      [['@Codex', 'Which one?', 'This', 'That'], '@Codex', '@codex'],
      [['@codex,', 'Which one?'], '@codex,', '@codex'],
      [['role:member', 'Which one?', 'This'], 'role:member', '@NAME'],
      [['owner:dana', 'Which one?'], 'owner:dana', '@NAME'],
      [['all', 'Which one?', 'This', 'That'], 'all', '@NAME'],
      [['@codex', '@dana', 'Which one?'], '@dana', '@dana'],
    ];
    for (const [words, whom, name] of refused) {
      const { code, stderr } = await home().run(['ask', ...words, '--as', 'claude']);
      expect([code, stderr], whom).to.deep.equal([
        2,
        `Error (invalid_request): ${whom} is no question.\nHint: An ask goes to one member, named in lower case: service ask ${name} "…"\n`,
      ]);
    }
    expect((await home().json(['asks', '--state', 'all'])).asks.length).to.equal(before);
    const { message } = await home().json(['ask', '@Codex, which one?', 'This', 'That', '--as', 'claude']);
    expect(message.body).to.equal('@Codex, which one?');
  });

  it('answers an ask with a post too, and posts about tasks from lines of JSON', async () => {
    const { message } = await home().json(['ask', 'Which?', 'This', 'That', '--as', 'claude']);
    const reply = await home().json(['say', '--reply', String(message.seq), '--option', '2']);
    expect([reply.message.body, reply.message.answer.option]).to.deep.equal(['That', 2]);
    const { task } = await home().json(['task', 'new', 'Told of']);
    const about = await home().run(['say', 'news', '--task', task.ref.toLowerCase(), '--task', '1', '--no-notes']);
    expect(about.stdout).to.match(new RegExp(`^Posted #\\d+ to all on demo · about ${task.ref}, DEM-1\\n$`));
    const lines = await home().shell(`echo '{"body":"x","about":["${task.ref}"]}' | service say --ndjson-in`);
    expect(JSON.parse(lines.stdout).message.about[0].ref).to.equal(task.ref);
    const { messages } = await home().json(['read', '--task', task.ref]);
    expect(messages.map(({ body }: { body: string }) => body)).to.deep.equal(['news', 'x']);
    expect((await home().json(['say', 'none', '--no-task', '--as', 'claude'])).message.about).to.deep.equal([]);
    const shown = await home().json(['task', 'show', task.ref]);
    expect([shown.messages.length, shown.files]).to.deep.equal([2, []]);
  });

  it('reminds an agent in its own words, not more often than agreed, and not at all where that is off', async () => {
    const post = (text: string) => reminders(['say', text, '--as', 'codex']);
    expect([await post('one'), await post('two'), await post('three'), await post('four')]).to.deep.equal([
      [],
      [],
      ['no_task_posts'],
      [],
    ]);
    expect(await post('I am blocked on the review')).to.deep.equal(['ask_instead']);
    expect(await post('Still waiting for the review')).to.deep.equal([]);
    expect(await reminders(['inbox', '--as', 'codex'])).to.deep.equal(['tasks_not_picked_up']);
    expect(await reminders(['inbox', '--as', 'codex'])).to.deep.equal([]);
    expect(await reminders(['status', '--as', 'codex'])).to.deep.equal(['tasks_not_picked_up']);
    const kept = readFileSync(home().path('state', 'nudges.json'), 'utf8');
    expect(kept).to.include('"no_task_posts"').and.include('"ask_instead"');
    const { task } = await home().json(['task', 'new', 'Talked about', '--as', 'codex']);
    const talk = await Promise.all(
      Array.from({ length: 8 }, (_, n) => home().json(['say', `post ${n}`, '--task', task.ref])),
    );
    expect(talk).to.have.length(8);
    expect(await post('nine')).to.deep.equal(['stands_stale']);
    expect(await post('ten')).to.deep.equal([]);
    await home().json(['board', 'policy', '--set', 'nudges=off']);
    expect(await reminders(['status', '--as', 'claude'])).to.deep.equal([]);
    await home().json(['board', 'policy', '--set', 'nudges=on']);
  });

  /** Does something on a machine that holds no token for some of the seats. */
  const without = async (isElsewhere: (seat: { name: string; board: string }) => boolean, run: () => Promise<void>) => {
    const path = home().path('config', 'credentials.json');
    const kept = readFileSync(path, 'utf8');
    const elsewhere = JSON.parse(kept);
    for (const server of Object.values(elsewhere.servers) as {
      seats: Record<string, Parameters<typeof isElsewhere>[0]>;
    }[]) {
      for (const [id, seat] of Object.entries(server.seats)) if (isElsewhere(seat)) delete server.seats[id];
    }
    writeFileSync(path, JSON.stringify(elsewhere));
    await run().finally(() => writeFileSync(path, kept));
  };

  it('lets a person set the line of an agent whose token is elsewhere', async () => {
    await without(
      ({ name }) => name === 'codex',
      async () => {
        const set = await home().json(['line', 'paused', 'Away', '--until', '20m', '--as', 'codex']);
        expect(set).to.include({ agent: 'codex', state: 'paused' });
        expect(set.line).to.include({ set_by: person, text: 'Away' });
        expect((await home().json(['line', 'clear', '--as', 'codex'])).line).to.equal(null);
      },
    );
    const past = await home().run(['line', 'paused', 'x', '--until', '2020-01-01T00:00:00Z', '--as', 'codex']);
    expect(past.code).to.equal(2);
    expect((await home().run(['line', 'working', 'x'.repeat(121), '--as', 'codex'])).code).to.equal(2);
    expect(await said(['line', 'working', 'x'])).to.include('agent_not_selected');
  });

  it('sets the line of an agent elsewhere on the board that is named with it', async () => {
    await home().json(['board', 'create', 'payments', '--no-link']);
    for (const board of ['demo', 'payments']) await home().json(['agent', 'create', 'omp', '--board', board]);
    const lineOn = async (board: string) =>
      (await home().json(['line', 'show', 'omp', '--board', board])).line?.text ?? null;
    for (const elsewhere of [['payments'], ['demo', 'payments']]) {
      await without(
        ({ name, board }) => name === 'omp' && elsewhere.includes(board),
        async () => {
          for (const whose of [
            ['--as', 'omp@payments'],
            ['--as', 'omp', '--board', 'payments'],
          ]) {
            await home().json(['line', 'working', 'Payments', ...whose]);
            expect([await lineOn('demo'), await lineOn('payments')]).to.deep.equal([null, 'Payments']);
            for (const name of ['omp@payments', '@omp@payments'])
              expect((await home().json(['line', 'show', name])).line.text).to.equal('Payments');
            await home().json(['line', 'clear', ...whose]);
            expect(await lineOn('payments')).to.equal(null);
          }
          for (const two of [
            ['line', 'clear', '--as', 'omp@payments'],
            ['line', 'show', 'omp@payments'],
          ]) {
            const { code, stderr } = await home().run([...two, '--board', 'demo']);
            expect([code, stderr.includes('Two boards are named, payments and demo.')]).to.deep.equal([2, true]);
          }
        },
      );
    }
  });

  it('ends a task with the commands for its further messages and files, where there are more', async () => {
    const { url } = (await home().json(['whoami'])).server;
    const key = readFileSync(home().path('data', 'local-key'), 'utf8').trim();
    const { ref } = (await home().json(['task', 'new', 'Long'])).task;
    const post = (path: string, type: string, body: string) =>
      fetch(`${url}/v1/boards/demo${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': type },
        body,
      });
    const say = (n: number) => post('/messages', 'application/json', JSON.stringify({ body: `m${n}`, about: [ref] }));
    const put = (n: number) => post(`/files?name=many/${n}.txt&about=${ref}`, 'application/octet-stream', `${n}`);
    for (let n = 1; n <= 20; n++) await say(n);
    for (let n = 1; n <= 50; n++) await put(n);
    const show = async (...on: string[]) => (await home().run(['task', 'show', ref, ...on])).stdout;
    expect(await show())
      .to.match(/^ {4}m20\n$/m)
      .and.not.match(/^(Earlier|More):/m);
    await say(21);
    await put(51);
    const [more = '', earlier = ''] = (await show('--board', 'demo')).trimEnd().split('\n').slice(-2);
    expect(more).to.match(new RegExp(`^More: service file list --task ${ref} --after \\S+ --board demo$`));
    expect(earlier).to.match(new RegExp(`^Earlier: service read --task ${ref} --before \\d+ --board demo$`));
    const rest = (line: string) => home().shell(`${line.replace(/^\w+: /, '')} --ndjson`);
    const lines = async (line: string) =>
      (await rest(line)).stdout
        .trim()
        .split('\n')
        .map((one) => JSON.parse(one));
    expect((await lines(earlier)).map(({ body }) => body)).to.deep.equal(['m1']);
    expect((await lines(more)).length).to.equal(1);
    await home().json(['task', 'done', ref, 'Long enough']);
  });

  it('says whose task it is that an agent helps with, also one that acts by its token alone', async () => {
    const { token } = await home().json(['agent', 'create', 'helper', '--print-token']);
    const env = { SERVICE_TOKEN: token, SERVICE_SERVER: (await home().json(['whoami'])).server.url };
    const { ref } = (await home().json(['task', 'new', 'Shared', '--as', 'claude'])).task;
    const on = [ref, '--board', 'demo'];
    const help = await home().run(['task', 'join', ...on], { env });
    expect(help.stdout).to.equal(`You help claude with ${ref}: Shared\n`);
    const own = await home().run(['task', 'join', ref, '--as', 'claude']);
    expect(own.stdout).to.equal(`You own ${ref}: Shared\n`);
    await home().json(['task', 'drop', ref, '--as', 'claude']);
    await home().json(['task', 'start', ...on], { env });
    expect((await home().run(['task', 'join', ...on], { env })).stdout).to.equal(`You own ${ref}: Shared\n`);
    await home().json(['task', 'drop', ...on], { env });
  });

  it('says what a part was that ended: that of the owner, or that of a helper', async () => {
    const { ref } = (await home().json(['task', 'new', 'Given up'])).task;
    const ended = async (...args: string[]) => (await home().run(['task', 'drop', ref, ...args])).stdout;
    await home().json(['task', 'join', ref, '--as', 'codex']);
    const drop = ['--as', 'codex', '--idempotency-key', 'helper-drop'];
    expect(await ended(...drop)).to.equal(`You do not help with ${ref} any more.\n`);
    await home().json(['task', 'start', ref, '--as', 'codex']);
    expect(await ended(...drop)).to.equal(`You do not help with ${ref} any more. (already done)\n`);
    await home().json(['task', 'join', ref, '--as', 'claude']);
    expect(await ended('--as', 'codex')).to.equal(`${ref} is free again.\n`);
    expect(await ended('--member', '@claude')).to.equal(`claude does not help with ${ref} any more.\n`);
    await home().json(['task', 'start', ref, '--as', 'codex']);
    expect(await ended('--member', 'codex')).to.equal(`${ref} is free again.\n`);
  });

  it('says the same of a part to a person whose handle somebody else changed', async () => {
    const { server } = await home().json(['whoami']);
    const api = new Api(server.url, readFileSync(home().path('data', 'local-key'), 'utf8').trim());
    const rename = (handle: string, after: string) =>
      api.ok('renamePerson', { params: { handle }, body: { handle: after } });
    const { ref } = (await home().json(['task', 'new', 'Mine'])).task;
    await rename(person, 'renamed');
    await home().json(['task', 'start', ref]);
    expect((await home().run(['task', 'join', ref])).stdout).to.equal(`You own ${ref}: Mine\n`);
    expect((await home().run(['task', 'drop', ref])).stdout).to.equal(`${ref} is free again.\n`);
    await rename('renamed', person);
  });

  it('sends nothing about tasks to a server that has none', async () => {
    const old = await Stranger.listen({ features: ['search'], version: '0.0.1' });
    const env = { SERVICE_SERVER: old.url, SERVICE_TOKEN: `abh_${'A'.repeat(43)}`, SERVICE_BOARD: 'demo' };
    const result = await home().run(['task', 'list', '--json'], { env });
    old.close();
    const { error } = JSON.parse(result.stdout);
    expect([error.code, error.details.feature]).to.deep.equal(['server_outdated', 'tasks']);
    expect(old.asked).to.deep.equal(['GET /v1/info']);
  });

  it('lets a change to what was read before be repeated under its key', async () => {
    const { ref } = (await home().json(['task', 'new', 'Repeated'])).task;
    // biome-ignore lint/suspicious/noExplicitAny: what a command printed
    const numbers = ({ version, task, allowance }: any) => [version, task?.stands.version, allowance?.revision];
    for (const [n, text] of ['one', 'two'].entries()) {
      for (const name of ['report.md', 'tagged.md']) writeFileSync(`${home().work}/${name}`, text);
      for (const line of [
        'file put report.md --replace',
        `file put tagged.md --replace --maintained --task ${ref} --media-type text/plain`,
        `task note ${ref} ${text}`,
        `allowance ${n === 0 ? 'on' : 'set invite-people on'}`,
      ]) {
        const words = line.split(' ');
        const args = [...words, '--idempotency-key', `repeat-${n}-${words[0]}-${words[2]}`];
        const [first, again] = [await home().json(args), await home().json(args)];
        expect(numbers(again), line).to.deep.equal(numbers(first));
      }
    }
    await home().json(['allowance', 'off']);
    const retagged = await home().json(['file', 'put', 'tagged.md', '--replace', '--one-off']);
    expect([retagged.changed, retagged.file.maintained]).to.deep.equal([true, false]);
  });

  it('sends the same again under a key, whatever the agent is on by then and whatever time it is', async () => {
    const first = (await home().json(['task', 'new', 'The first', '--as', 'codex'])).task;
    const keyed = (key: string, ...words: string[]) => [...words, '--as', 'codex', '--idempotency-key', key];
    const note = keyed(
      'same-note',
      'task',
      'note',
      'key: AKIAIOSFODNN7EXAMPLE abh_0123456789012345678901234567890123456789012',
    );
    const noted = await home().json(note);
    expect(noted.task.stands.text).to.not.include('abh_');
    await home().json(['task', 'update', first.ref, '--stands', 'a later word', '--base', '1']);
    expect(await home().json(note)).to.deep.include({ task: noted.task, replayed: true });
    const done = keyed('same-done', 'task', 'done', 'It is');
    expect((await home().json(done)).task.ref).to.equal(first.ref);
    expect(await home().json(done)).to.deep.include({ replayed: true });
    const second = (await home().json(['task', 'new', 'The second', '--as', 'codex'])).task;
    expect((await home().json(done)).task.ref).to.equal(first.ref);
    const drop = keyed('same-drop', 'task', 'drop');
    for (const replayed of [undefined, true]) {
      const dropped = await home().json(drop);
      expect([dropped.task.ref, dropped.replayed]).to.deep.equal([second.ref, replayed]);
    }
    for (const words of [
      ['ask', 'Which?', '--going-with', 'this', '--at', '2h'],
      ['line', 'paused', 'Waiting', '--until', '20m'],
    ]) {
      const args = keyed(`same-${words[0]}`, ...words);
      await home().json(args);
      expect((await home().json(args)).replayed, words.join(' ')).to.equal(true);
    }
    // What another agent says under the same key is its own.
    const other = await home().run([
      'task',
      'done',
      'It is',
      '--as',
      'claude',
      '--idempotency-key',
      'same-done',
      '--json',
    ]);
    expect(JSON.parse(other.stdout)).to.not.have.nested.property('task.ref', first.ref);
    const kept = home().path('state', 'repeats.json');
    expect(readFileSync(kept, 'utf8')).to.not.match(/ab[ah]_|same-/);
  });
});
