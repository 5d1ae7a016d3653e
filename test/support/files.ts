/** Files that tests put onto boards. */
import type { BoardFile } from '../../src/contract/types.ts';
import type { Answered, Api, Call } from './api.ts';

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
