/** Server-sent events on the wire. */

/** One frame; the id only where the reader can resume from it. */
export function frame(event: string, data: unknown, id?: number): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}

export const OPENING = 'retry: 2000\n\n';
export const KEEPALIVE = ': keepalive\n\n';

export type EndReason = 'credential_ended' | 'server_shutdown' | 'board_unavailable';
