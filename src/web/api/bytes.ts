/** The bytes of files. */
import { client } from './client.ts';

/** Most bytes of a text that is shown; longer ones are offered for download. */
export const PREVIEW_BYTES = 524_288;

/**
 * The text of a version of a file.
 *
 * @throws ClientError as a call does.
 */
export async function readText(board: string, file: string, version: number): Promise<string> {
  const exchange = await client.openBytes({ board, file, version }, { from: 0, etag: null, attempt: 1 });
  return exchange.response.text();
}

/** The address under which the browser downloads a version. */
export const downloadOf = (board: string, file: string, version: number): string =>
  `/v1/boards/${encodeURIComponent(board)}/files/${encodeURIComponent(file)}/versions/${version}`;
