/**
 * The floor: what Node and SQLite cost by themselves with the same settings of the database and the same grouping of
 * writes into one commit per turn of the event loop. A post is one row, an answer and a push to whoever
 * follows; there is no identity, no rule, no record. Ratios to it say what the product adds.
 *
 *   POST /<board>            stores the body, answers {id, seq}
 *   GET  /<board>/stream     every later post as a server-sent event
 *   GET  /<board>/wait?after=N  answers as soon as the board has a post after N
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { prepareWriter } from '../../src/server/db/sqlite.ts';

const [folder = '.'] = process.argv.slice(2);
const db = new Sqlite(join(folder, 'floor.db'));
prepareWriter(db);
db.exec('CREATE TABLE IF NOT EXISTS posts (id INTEGER PRIMARY KEY, board TEXT, seq INTEGER, body TEXT)');
const insert = db.prepare('INSERT INTO posts (board, seq, body) VALUES (?, ?, ?)');
const begin = db.prepare('BEGIN IMMEDIATE');
const commit = db.prepare('COMMIT');

interface Wait {
  after: number;
  res: ServerResponse;
}

class Board {
  readonly name: string;
  seq = 0;
  last = '';
  readonly streams = new Set<ServerResponse>();
  readonly waits = new Set<Wait>();
  constructor(name: string) {
    this.name = name;
  }
}

interface Post {
  board: Board;
  body: string;
  res: ServerResponse;
}

const boards = new Map<string, Board>();
let queue: Post[] = [];

function boardNamed(name: string): Board {
  let board = boards.get(name);
  if (!board) {
    board = new Board(name);
    boards.set(name, board);
  }
  return board;
}

function json(res: ServerResponse, status: number, text: string): void {
  res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
  res.end(text);
}

/** One durable transaction for all posts of this turn; what it answers is told after its commit. */
function flush(): void {
  const batch = queue;
  queue = [];
  begin.run();
  const done = batch.map((post) => {
    const seq = ++post.board.seq;
    return { ...post, seq, id: insert.run(post.board.name, seq, post.body).lastInsertRowid };
  });
  commit.run();
  for (const { board, body, res, seq, id } of done) {
    json(res, 201, JSON.stringify({ id, seq }));
    board.last = JSON.stringify({ seq, body });
    const frame = Buffer.from(`event: event\nid: ${seq}\ndata: ${board.last}\n\n`);
    for (const stream of board.streams) stream.write(frame);
  }
  // Node writes the frames when this turn ends; who waits must not hold them back.
  setImmediate(() => {
    for (const { board } of done) for (const wait of board.waits) answerWait(board, wait);
  });
}

function answerWait(board: Board, wait: Wait): void {
  if (board.seq <= wait.after) return;
  board.waits.delete(wait);
  json(wait.res, 200, board.last);
}

function post(board: Board, req: IncomingMessage, res: ServerResponse): void {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    const { body } = JSON.parse(Buffer.concat(chunks).toString()) as { body: string };
    queue.push({ board, body, res });
    if (queue.length === 1) setImmediate(flush);
  });
}

function stream(board: Board, res: ServerResponse): void {
  res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  res.write(`event: ready\nid: ${board.seq}\ndata: {}\n\n`);
  board.streams.add(res);
  res.on('close', () => board.streams.delete(res));
}

const server = createServer((req, res) => {
  const url = new URL(req.url ?? '/', 'http://floor');
  const [, name = '', what] = url.pathname.split('/');
  const board = boardNamed(name);
  if (req.method === 'POST') return post(board, req, res);
  if (what === 'stream') return stream(board, res);
  const wait = { after: Number(url.searchParams.get('after')), res };
  board.waits.add(wait);
  res.on('close', () => board.waits.delete(wait));
  answerWait(board, wait);
});

server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })}\n`);
});
process.on('SIGTERM', () => process.exit(0));
process.on('disconnect', () => process.exit(1));
process.on('message', ({ id, gc }: { id: number; gc: boolean }) => {
  if (gc) (globalThis as { gc?: () => void }).gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  process.send?.({ id, cpuMs: (user + system) / 1000, rss, heapUsed, external });
});
