import { expect } from 'chai';
import fc from 'fast-check';
import type { Api } from '../../support/api.ts';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { tryPut } from '../../support/files.ts';
import { recordedFrom } from '../../support/replay.ts';
import { FileReplay } from '../../support/replay-files.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

type Row = Record<string, unknown>;

const verbs = ['put', 'put', 'next', 'next', 'brief', 'rename', 'remove', 'update', 'approve', 'unapprove'] as const;
const talk = ['attach', 'ask', 'answer', 'finish'] as const;
const step = fc.record({
  verb: fc.constantFrom(...verbs, ...talk),
  by: fc.nat(3),
  n: fc.nat(20),
  flag: fc.boolean(),
});
type Step = { verb: (typeof verbs)[number] | (typeof talk)[number]; by: number; n: number; flag: boolean };

forEachDatabase('files beside the record', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const rows = (table: string, where: Row = {}): Promise<Row[]> =>
    server.db.read((tx) => tx.query<Row>((db) => db(table).where(where).select('*')));
  const like = (row: Row, rebuilt: object | undefined): Row =>
    Object.fromEntries(Object.keys(rebuilt ?? {}).map((column) => [column, row[column]]));

  it('are what the record says, after any story', async () => {
    const pam = await server.person('pam');
    const seen = { brief: 0, removed: 0, approved: 0, cited: 0, answered: 0, tagged: 0 };
    for (const story of fc.sample(fc.array(step, { minLength: 70, maxLength: 90, size: 'max' }), {
      numRuns: 3,
      seed: 23,
    })) {
      const { name: board, id } = await newBoard(server.dana);
      await server.dana.ok('addBoardPerson', { params: { board }, body: { handle: 'pam' } });
      const everybody: Api[] = [server.dana, pam, await newAgent(server.dana, board), await newAgent(pam, board)];
      for (let n = 0; n < 6; n++) await pam.ok('createTask', { params: { board }, body: { title: `task ${n}` } });
      const asks: string[] = [];
      for (const one of story) await take(board, everybody, asks, one);
      const events = recordedFrom(await rows('events', { board_id: id }));
      const replay = new FileReplay(events);

      const files = await rows('files', { board_id: id });
      expect(files.map((row) => like(row, replay.files.get(String(row['id']))))).to.have.deep.members([
        ...replay.files.values(),
      ]);
      const mine = (row: Row) => replay.files.has(String(row['file_id']));
      expect((await rows('file_versions')).filter(mine)).to.have.deep.members(replay.versions);
      expect((await rows('file_approvals')).filter(mine)).to.have.deep.members([...replay.approvals.values()]);
      expect((await rows('message_files')).filter(mine)).to.have.deep.members(replay.citations);
      const tagged = [...replay.tasks].flatMap(([file_id, ids]) => ids.map((task_id, n) => ({ file_id, task_id, n })));
      expect((await rows('file_tasks')).filter(mine)).to.have.deep.members(tagged);
      const [stored] = await rows('boards', { id });
      expect(like(stored as Row, replay.counts)).to.deep.equal(replay.counts);

      const brief = [...replay.files.values()].find((file) => file['brief'] === 1 && file['removed_at'] === null);
      const shown = (await pam.ok('getBoard', { params: { board } })).brief;
      expect(shown && [shown.file_id, shown.version]).to.deep.equal(brief ? [brief['id'], brief['latest']] : null);
      seen.brief += brief ? 1 : 0;
      seen.removed += files.filter((file) => file['removed_at'] !== null).length;
      seen.approved += replay.approvals.size;
      seen.cited += replay.citations.length;
      seen.answered += replay.counts.answer_count;
      seen.tagged += tagged.length;
    }
    // What no story told was not compared.
    expect(Object.entries(seen).filter(([, count]) => count === 0)).to.deep.equal([]);
  });

  /** One step; what the rules refuse is refused, and leaves nothing. */
  async function take(board: string, everybody: Api[], asks: string[], { verb, by, n, flag }: Step): Promise<void> {
    const api = everybody[by] as Api;
    const name = `notes/f${n % 5}.md`;
    const params = { board, file: name };
    const { files } = await api.ok('listFiles', { params: { board } });
    const file = files.find((one) => one.name === name);
    const version = ((n % 3) % (file?.latest.version ?? 1)) + 1;
    const post = (body: object) => api.call('postMessage', { params: { board }, body });
    switch (verb) {
      case 'put':
        await tryPut(api, board, name, `text ${n}`, flag ? { maintained: true, about: `${(n % 6) + 1}` } : {});
        return;
      case 'next':
        await tryPut(api, board, name, `text ${n}`, {
          base: file?.latest.version ?? 0,
          ...(flag ? { about: '' } : {}),
        });
        return;
      case 'brief': {
        const { brief } = await api.ok('getBoard', { params: { board } });
        const held: Record<string, string | number | boolean> = brief
          ? { file_id: brief.file_id, base: brief.version, replace_format: true }
          : {};
        await tryPut(api, board, flag ? 'brief.md' : 'brief.html', `brief ${n}`, { brief: true, ...held });
        return;
      }
      case 'rename': {
        const from = flag && n % 4 === 0 ? 'brief.md' : name;
        await api.call('updateFile', { params: { board, file: from }, body: { name: `notes/f${(n + 1) % 5}.md` } });
        return;
      }
      case 'remove':
        if (n % 2 === 0) await api.call('removeFile', { params });
        return;
      case 'update':
        await api.call('updateFile', {
          params,
          body: flag ? { maintained: n % 2 === 0 } : { about: [`${(n % 6) + 1}`] },
        });
        return;
      case 'approve':
        await api.call('approveFile', { params, body: { version } });
        return;
      case 'unapprove':
        await api.call('unapproveFile', { params });
        return;
      case 'attach':
        await post({ body: 'look', files: [{ file: name, version }, { file: name }] });
        return;
      case 'ask': {
        const ask = { options: ['Yes', 'No'], ...(file ? { approval: true } : {}) };
        const { body } = await post({
          body: 'ship it?',
          to: ['@pam'],
          ask,
          ...(file ? { files: [{ file: name, version }] } : {}),
        });
        if (body.id) asks.push(body.id);
        return;
      }
      case 'answer': {
        const asked = asks[n % Math.max(asks.length, 1)];
        const answer = n % 5 === 0 ? { withdrawn: true } : { option: flag ? 1 : 2 };
        if (asked)
          await (everybody[1] as Api).call('postMessage', {
            params: { board },
            body: { body: 'so', reply_to: asked, answer },
          });
        return;
      }
      case 'finish':
        await api.call('finishTask', { params: { board, task: (n % 6) + 1 }, body: { note: 'x', cancelled: flag } });
        return;
    }
  }
});
