/** Files that tests put onto boards, and what happens to their bytes. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BoardFile } from '../../src/contract/types.ts';
import type { Answered, Api, Call } from './api.ts';
import type { TestServer } from './server.ts';

type Query = NonNullable<Call['query']>;
type Bytes = Buffer | string;

/** Uploads bytes to a path of a board; the answer may be a refusal. */
export const tryPut = (
  from: Api,
  board: string,
  name: string,
  bytes: Bytes,
  query: Query = {},
  more: Call = {},
): Promise<Answered<BoardFile>> =>
  from.call('uploadFile', { params: { board }, query: { name, ...query }, bytes, ...more });

/** The same, which must succeed. */
export async function put(from: Api, board: string, name: string, bytes: Bytes, query: Query = {}): Promise<BoardFile> {
  const { status, body, text } = await tryPut(from, board, name, bytes, query);
  if (status !== 201) throw new Error(`${name} was refused: ${status} ${text}`);
  return body;
}

/** `code` of a refused upload with what it says of the file that is there. */
export async function refusedPut(
  from: Api,
  board: string,
  name: string,
  bytes: Bytes,
  query: Query = {},
): Promise<{ code: string | undefined; details: Record<string, unknown> }> {
  const { code, body } = await tryPut(from, board, name, bytes, query);
  const { error } = body as unknown as { error?: { details?: Record<string, unknown> } };
  return { code, details: error?.details ?? {} };
}

/** The bytes of a version. */
export async function bytesOf(from: Api, board: string, file: string, version: number | 'latest' = 'latest') {
  const answer = await from.call('downloadFile', { params: { board, file, version } });
  if (answer.status !== 200) throw new Error(`${file} was refused: ${answer.text}`);
  return answer.bytes;
}

/** Where stored bytes lie on a server's disk. */
export function pathOnDisk(server: TestServer, digest: string): string {
  const hex = digest.slice('sha256:'.length);
  return join(server.dataDir, 'files', 'sha256', hex.slice(0, 2), hex.slice(2, 4), hex);
}

/** Puts other bytes in the place of stored ones. */
export async function damage(server: TestServer, digest: string, bytes: string): Promise<void> {
  if (server.databaseUrl === undefined) return writeFileSync(pathOnDisk(server, digest), bytes);
  const row = { bytes: Buffer.from(bytes) };
  await server.db.write((tx) => tx.change((db) => db('blob_chunks').where({ digest }).update(row)));
}

/** The same for many bytes, which a database keeps in pieces. */
export async function damageAt(server: TestServer, digest: string, bytes: Buffer): Promise<void> {
  if (server.databaseUrl === undefined) return writeFileSync(pathOnDisk(server, digest), bytes);
  const piece = 1_048_576;
  for (let n = 0; n * piece < bytes.length; n++) {
    const row = { bytes: bytes.subarray(n * piece, (n + 1) * piece) };
    await server.db.write((tx) => tx.change((db) => db('blob_chunks').where({ digest, n }).update(row)));
  }
}

/** Takes stored bytes away. */
export async function lose(server: TestServer, digest: string): Promise<void> {
  if (server.databaseUrl === undefined) return rmSync(pathOnDisk(server, digest));
  await server.db.write((tx) => tx.change((db) => db('blob_chunks').where({ digest }).delete()));
}
