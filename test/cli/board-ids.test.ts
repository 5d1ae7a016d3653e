/** On the command line too, a board is named by its id wherever it is named by its name. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { chooseActor } from '../../src/local/actors.ts';
import { HostileServer } from './support/hostile.ts';
import { homeWithBoard } from './support/shared.ts';

describe('the id of a board on the command line', () => {
  const home = homeWithBoard();
  let demo: string;
  let other: string;
  before(async () => {
    const idOf = async (board: string) => (await home().json(['board', 'show', '-b', board])).board_record.id;
    await home().json(['board', 'create', 'other', '--no-link']);
    [demo, other] = [await idOf('demo'), await idOf('other')];
    for (const board of ['demo', 'other']) await home().json(['agent', 'create', 'codex', '-b', board]);
  });

  it('names it to --board, to SERVICE_BOARD and in .service, and what is printed has the name', async () => {
    const said = await home().json(['say', 'by id', '-b', other]);
    expect([said.board, said.message.board]).to.deep.equal(['other', 'other']);
    const text = await home().run(['say', 'again', '-b', other]);
    expect(text.stdout).to.match(/ on other\n$/);
    const env = { SERVICE_BOARD: other };
    expect((await home().json(['read'], { env })).messages.map(({ body }: { body: string }) => body)).to.deep.equal([
      'by id',
      'again',
    ]);
    const link = join(home().work, '.service');
    const linked = readFileSync(link, 'utf8');
    writeFileSync(link, JSON.stringify({ ...JSON.parse(linked), board: other }));
    expect((await home().json(['status'])).board).to.equal('other');
    writeFileSync(link, linked);
  });

  it('names it to commands of every kind', async () => {
    await home().json(['task', 'new', 'a task', '-b', other]);
    const { messages } = await home().json(['read', '-b', 'other']);
    for (const args of [
      ['board', 'show'],
      ['board', 'people'],
      ['board', 'members'],
      ['board', 'charter'],
      ['board', 'search', 'id'],
      ['task', 'list'],
      ['asks'],
      ['file', 'list'],
      ['audit', 'verify'],
      ['audit', 'log'],
      ['code', 'create'],
      ['board', 'ack', '--all'],
    ]) {
      const { code, stdout, stderr } = await home().run([...args, '-b', other, '--json']);
      expect(code, `${args.join(' ')}: ${stdout}${stderr}`).to.equal(0);
      const told = JSON.parse(stdout).board;
      if (told !== undefined) expect(told, args.join(' ')).to.equal('other');
    }
    const [{ seq, id }] = messages;
    const found = await home().json(['board', 'message', `${other}#${seq}`]);
    expect(found.message.id).to.equal(id);
    const { invite } = await home().json(['invite', 'create', '--board', other]);
    expect(invite.boards, JSON.stringify(invite)).to.deep.equal([other]);
  });

  it('is written into a linked folder as the name', async () => {
    const link = join(home().work, '.service');
    const before = readFileSync(link, 'utf8');
    await home().json(['board', 'link', other]);
    expect(JSON.parse(readFileSync(link, 'utf8')).board).to.equal('other');
    writeFileSync(link, before);
  });

  it('tells apart the seats of agents with one name', async () => {
    const as = async (args: string[], env: Record<string, string> = {}) => {
      const { board, message } = await home().json(['say', 'x', '--to', 'all', '--no-notes', ...args], { env });
      return [board, message.from.name];
    };
    expect(await as(['--as', 'codex', '-b', other])).to.deep.equal(['other', 'codex']);
    expect(await as(['--as', `codex@${other}`])).to.deep.equal(['other', 'codex']);
    expect(await as([], { SERVICE_AGENT: `codex@${demo}` })).to.deep.equal(['demo', 'codex']);
  });

  it('chooses among the seats that a session holds', () => {
    const seatOn = (board: string, id: string) =>
      ({ memberId: board, origin: 'http://h', entry: {}, saved: { board, board_id: id, name: 'codex' } }) as never;
    const choose = (board: string) =>
      chooseActor(
        { as: undefined, board, ofBoard: true, serverOrigin: undefined },
        () => {
          throw new Error('nothing is read');
        },
        {},
        [seatOn('demo', demo), seatOn('other', other)],
      );
    for (const board of ['other', other]) expect(choose(board)).to.have.nested.property('seat.memberId', 'other');
    expect(() => choose('brd_01K5A0000000000000000000B1')).to.throw('several boards');
  });

  it('of a board that is not there is no board', async () => {
    const { code, stdout } = await home().run(['read', '-b', 'brd_01K5A0000000000000000000B1', '--json']);
    expect([code, JSON.parse(stdout).error.code]).to.deep.equal([6, 'board_not_found']);
  });

  it('is not answered with another board, whose record nobody has checked', async () => {
    const server = await HostileServer.start();
    const env = { SERVICE_SERVER: server.url, SERVICE_TOKEN: `abh_${'A'.repeat(43)}` };
    for (const command of ['audit verify', 'read']) {
      server.asked = [];
      const args = [...command.split(' '), '-b', 'brd_01K5A0000000000000000000B1', '--json'];
      const { code, stdout } = await home().run(args, { env });
      expect([code, JSON.parse(stdout).error.code], command).to.deep.equal([1, 'server_unexpected']);
      expect(server.asked, command).to.include('getBoard').and.not.include.members(['listEvents', 'listMessages']);
    }
    server.stop();
  });

  it('names it when it is put away and deleted', async () => {
    const { board_record } = await home().json(['board', 'create', 'old', '--no-link']);
    const call = (verb: string) => home().json(['board', verb, '-b', board_record.id, '--yes']);
    expect(await call('archive')).to.include({ id: board_record.id, lifecycle: 'archived', changed: true });
    expect(await call('restore')).to.include({ lifecycle: 'active' });
    expect((await home().run(['board', 'restore', 'old'])).stdout).to.equal('Already active.\n');
    await call('archive');
    expect((await home().run(['board', 'archive', 'old'])).stdout).to.equal('Already archived.\n');
    expect(await call('delete')).to.include({ lifecycle: 'deleted' });
  });
});
