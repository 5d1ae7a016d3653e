/** Who writes files and searches for what is in them must not be able to stop the server. */
import { expect } from 'chai';
import { newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { put } from '../../support/files.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const LENGTH = 524_288;
const MOST_TIMES = 20;

const filled = (piece: string): string => piece.repeat(Math.ceil(LENGTH / piece.length)).slice(0, LENGTH);
const phrase = `"${'a '.repeat(95).trim()}"`;
const plainText = filled('Please look at the new parser, say what you think of its tests, and merge it. ');

forEachDatabase('a search in long files', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
    server.clock.holdBack(1_000);
  });
  after(() => server.stop());

  /** A board with two files of this text, which are in the index. */
  async function boardWith(text: string): Promise<string> {
    const { name: board } = await newBoard(server.dana);
    for (const name of ['one.txt', 'two.txt']) await put(server.dana, board, name, text);
    await server.dana.ok('search', { query: { q: 'one', board } });
    return board;
  }

  /** The least processor time of several searches, in milliseconds. */
  async function costOf(board: string, q: string): Promise<number> {
    const times: number[] = [];
    for (let n = 0; n < 5; n++) {
      const begun = process.cpuUsage();
      await server.dana.ok('search', { query: { q, board, kind: 'file' } });
      const { user, system } = process.cpuUsage(begun);
      times.push((user + system) / 1_000);
    }
    return Math.min(...times);
  }

  it(`takes at most ${MOST_TIMES} times as long as in plain text, whatever repeats in them`, async () => {
    const plain = await costOf(await boardWith(plainText), 'parser');
    for (const text of [filled('a '), filled(`${'a '.repeat(94)}b `)]) {
      const board = await boardWith(text);
      for (const q of ['a', phrase, `txt -${phrase}`, 'a '.repeat(16)])
        expect(await costOf(board, q), `${text.slice(-4)} ${q.slice(0, 20)}`).to.be.below(MOST_TIMES * plain);
    }
  });

  it('lets others be answered between those that one person asks for at once', async () => {
    const board = await boardWith(filled('a '));
    let answered = 0;
    const searches = Array.from({ length: 16 }, async () => {
      await server.dana.ok('search', { query: { q: phrase, board } });
      answered++;
    });
    await server.nobody.ok('getInfo');
    expect(answered).to.be.below(8);
    await Promise.all(searches);
  });
});
