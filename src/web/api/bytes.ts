/** Downloads file versions for previews and comparisons. */
import { load } from '../parts/lazy.ts';
import { client } from './client.ts';

/** Longer texts are shown part by part, and not compared. In bytes. */
export const MAX_TEXT_BYTES = 524_288;

interface FileVersionRef {
  board: string;
  file: string;
  version: number;
}

/** The download address of a version. The server sends it as an attachment. */
export const bytesHref = ({ board, file, version }: FileVersionRef): string =>
  `/v1/boards/${encodeURIComponent(board)}/files/${encodeURIComponent(file)}/versions/${version}`;

/** The latest texts by address. A version never changes, so entries stay valid. */
const textCache = new Map<string, Promise<string>>();
const MAX_CACHED = 12;

/** Downloads a version. */
export async function readBytes({ board, file, version }: FileVersionRef): Promise<Uint8Array<ArrayBuffer>> {
  let chunks: Uint8Array[] = [];
  const write = (chunk: Uint8Array): void => void chunks.push(chunk);
  const restart = (): void => {
    chunks = [];
  };
  // A conversation can be read without it.
  const { download } = await load(() => import('../../client/download.ts'));
  await download(client, { board, file, version }, { write, restart });
  return new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
}

/** Decodes a text as the server does: UTF-16 where it begins with its byte-order mark, else UTF-8. */
export function decodeText(bytes: Uint8Array<ArrayBuffer>): string {
  const mark = bytes[0]! * 256 + bytes[1]!;
  return new TextDecoder(mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : 'utf-8').decode(bytes);
}

/** Downloads a version as text, or takes it from the cache. */
export function readText(version: FileVersionRef): Promise<string> {
  const key = bytesHref(version);
  const cached = textCache.get(key);
  if (cached) return cached;
  const reading = readBytes(version).then(decodeText);
  textCache.set(key, reading);
  reading.catch(() => textCache.delete(key));
  const [oldest] = textCache.keys();
  if (textCache.size > MAX_CACHED && oldest !== undefined) textCache.delete(oldest);
  return reading;
}
