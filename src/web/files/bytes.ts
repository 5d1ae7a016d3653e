/** Bytes of file versions: read as text for previews and comparisons, and sent as new versions. */
import { download } from '../../client/download.ts';
import { ClientError } from '../../client/errors.ts';
import { MAX_FILE } from '../../contract/file-size.ts';
import type { BoardFile } from '../../contract/types.ts';
import { client } from '../api/client.ts';

/** Longer texts are not shown: they can be downloaded. */
export const MOST_TEXT = 524_288;

export interface Named {
  board: string;
  file: string;
  version: number;
}

/** The address of a version's bytes. The server always gives them as an attachment. */
export const bytesHref = ({ board, file, version }: Named): string =>
  `/v1/boards/${encodeURIComponent(board)}/files/${encodeURIComponent(file)}/versions/${version}`;

/** The last texts that were read: a version never changes. */
const texts = new Map<string, Promise<string>>();
const KEPT = 12;

/** All bytes of a version. */
export async function readBytes({ board, file, version }: Named): Promise<Uint8Array<ArrayBuffer>> {
  let chunks: Uint8Array[] = [];
  const write = (chunk: Uint8Array): void => void chunks.push(chunk);
  const restart = (): void => {
    chunks = [];
  };
  await download(client, { board, file, version }, { write, restart });
  return new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
}

/** A version as text. */
export function readText(named: Named): Promise<string> {
  const key = bytesHref(named);
  const known = texts.get(key);
  if (known) return known;
  const reading = readBytes(named).then((bytes) => new TextDecoder().decode(bytes));
  texts.set(key, reading);
  reading.catch(() => texts.delete(key));
  const [oldest] = texts.keys();
  if (texts.size > KEPT && oldest !== undefined) texts.delete(oldest);
  return reading;
}

export interface NewVersion {
  board: string;
  name: string;
  /** The version it replaces; 0: the file is new. */
  base: number;
  /** The file it is a version of. */
  fileId?: string;
  bytes: File;
  /** The same for a repeat whose outcome is not known. */
  key: string;
}

/**
 * Sends a file's bytes, which only the browser's own request takes without reading them into memory.
 *
 * @throws ClientError as `call` does, such as `file_changed` and `file_exists`
 */
export async function sendVersion({ board, name, base, fileId, bytes, key }: NewVersion): Promise<BoardFile> {
  const query = new URLSearchParams({ name, base: String(base), ...briefOf(name) });
  if (fileId !== undefined) query.set('file_id', fileId);
  const response = await client.environment
    .fetch(`/v1/boards/${encodeURIComponent(board)}/files?${query}`, {
      method: 'POST',
      body: bytes,
      headers: { 'Content-Type': 'application/octet-stream', 'Idempotency-Key': key },
    })
    .catch(() => {
      throw new ClientError('outcome_unknown', 'The connection broke before the server answered.', {
        hint: 'Try again: it is added at most once.',
      });
    });
  const answer = (await response.json()) as BoardFile & { error?: { code: string; message: string; hint: string } };
  if (response.ok) return answer;
  const { code = 'server_unexpected', message = 'The file was not taken.', ...rest } = answer.error ?? {};
  throw new ClientError(code, message, { ...rest, status: response.status });
}

const briefOf = (name: string): Record<string, string> => (/^brief\.(md|html)$/.test(name) ? { brief: 'true' } : {});

/** Why these bytes cannot be sent; null when they can. */
export const refusalOf = ({ size }: File): string | null =>
  size > MAX_FILE ? 'A file may have at most 50 MB. Nothing was sent.' : null;
