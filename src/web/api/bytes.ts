/** Bytes of file versions, read for previews and comparisons. */
import { download } from '../../client/download.ts';
import { client } from './client.ts';

/** Longer texts are not shown: they can be downloaded. */
export const MOST_TEXT = 524_288;

interface Named {
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
