import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Api, type Call } from '../../support/api.ts';
import { newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { changeBoard, endMember, putOnBoard } from '../../support/state.ts';

forEachDatabase('the kept answer of a join', (engine) => {
  let server: TestServer;
  let keys = 0;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  /** Adds an agent with a key; answers the call and what it answered. */
  async function join(owner: Api, board: string) {
    const call: Call = { body: { board, role: 'member' }, key: `join-${++keys}` };
    return { call, first: await owner.call('joinBoard', call) };
  }

  it('comes back whole, token included, and the token works', async () => {
    const board = await newBoard(server.dana);
    const { call, first } = await join(server.dana, board.name);
    const again = await server.dana.call('joinBoard', call);
    expect([again.replayed, again.text]).to.deep.equal([true, first.text]);
    expect((await new Api(server.url, again.body.token).ok('getMe')).id).to.equal(first.body.agent.id);
  });

  it('is in the database sealed: neither the token nor anything of the answer can be read there', async () => {
    const board = await newBoard(server.dana);
    const { call, first } = await join(server.dana, board.name);
    const [row] = await server.db.read((tx) =>
      tx.query<{ class: string; body: Buffer; recheck: string }>((db) =>
        db('idempotency').where({ key: call.key }).select(),
      ),
    );
    expect(row?.class).to.equal('R');
    expect(row?.body.includes(Buffer.from('aba_'))).to.equal(false);
    expect(row?.body.includes(Buffer.from(board.id))).to.equal(false);
    expect(row?.recheck).not.to.include(first.body.token);
    if (engine === 'sqlite') {
      // The needle is there to be found: the board's id is, in the same files.
      expect(filesWith(server.dataDir, board.id)).not.to.deep.equal([]);
      expect(filesWith(server.dataDir, first.body.token)).to.deep.equal([]);
      expect(filesWith(server.dataDir, server.dana.token ?? '')).to.deep.equal(['local-key']);
    }
    expect(server.log.join('')).not.to.include(first.body.token);
  });

  it('is not for another credential with the same key', async () => {
    const board = await newBoard(server.dana);
    const ida = await server.person('ida');
    await putOnBoard(server, board.name, ida);
    const { call, first } = await join(server.dana, board.name);
    const other = await ida.call('joinBoard', call);
    expect(other.replayed).to.equal(false);
    expect(other.body.token).not.to.equal(first.body.token);
  });

  it('is refused with what a new call gets: seat ended, token replaced, board archived, board hidden', async () => {
    const board = await newBoard(server.dana);
    const ended = await join(server.dana, board.name);
    await endMember(server, ended.first.body.agent.id);
    expect(await server.dana.refused('joinBoard', ended.call)).to.equal('403 agent_removed');

    const replaced = await join(server.dana, board.name);
    await server.db.write((tx) =>
      tx.change((db) =>
        db('members')
          .where('id', replaced.first.body.agent.id)
          .update({ token_digest: server.root.digest('another') }),
      ),
    );
    expect(await server.dana.refused('joinBoard', replaced.call)).to.equal('409 seat_token_replaced');

    const archived = await join(server.dana, board.name);
    await changeBoard(server, board.name, { lifecycle: 'archived' });
    expect(await server.dana.refused('joinBoard', archived.call)).to.equal('409 board_archived');
    await changeBoard(server, board.name, { lifecycle: 'deleted' });
    expect(await server.dana.refused('joinBoard', archived.call)).to.equal('404 board_not_found');
  });
});

function filesWith(folder: string, needle: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && readFileSync(join(folder, entry.name)).includes(needle))
    .map((entry) => entry.name);
}
