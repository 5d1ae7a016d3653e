/** Follows one board by its stream: no message is skipped or repeated, across reconnects. */
import type { Output } from '../../../../cli/output.ts';
import { boardStream } from '../../../../client/board-stream.ts';
import type { Client } from '../../../../client/client.ts';
import { requireFeature, serverInfo } from '../../../../client/features.ts';
import { Connection, Reader, type ReaderOptions, untilInterrupted } from './catch-up.ts';
import { followHints } from './follow-hints.ts';

interface FollowOptions extends ReaderOptions {
  client: Client;
  out: Output;
  /** Whether an agent follows. */
  agent: boolean;
}

/**
 * Runs until it is interrupted, which ends it quietly. Where the server has no stream of one board, a person follows by
 * hints. @throws ClientError `server_outdated` there for an agent.
 */
export async function follow(options: FollowOptions): Promise<void> {
  const { client, board, out } = options;
  const { features } = await serverInfo(client);
  if (!features.includes('board_stream')) return followByHints(options);
  await untilInterrupted(async (signal) => {
    const connection = new Connection(client, out, signal);
    const reader = new Reader(options, connection);
    const onReconnect = () => connection.lost('stream');
    const frames = boardStream(client, { board, after: options.after, signal, onReconnect });
    for await (const frame of frames) {
      if (frame.event === 'event' && frame.data.type === 'message.posted' && !frame.data.data_withheld)
        await reader.upTo(frame.id);
      if (frame.event === 'ready') connection.back('stream');
    }
  });
}

async function followByHints({ client, board, agent, after, filters, out, show }: FollowOptions): Promise<void> {
  if (agent) await requireFeature(client, 'board_stream');
  // Whether it is lost for good, only the board itself says.
  const lost = async () => void (await client.call('getBoard', { params: { board } }));
  const begin = async (heads: { board_id: string }[]) => {
    if (heads.length === 0) await lost();
    return new Map(heads.map(({ board_id: id }) => [id, after]));
  };
  await followHints({ client, boards: [board], filters, out, show, begin, lost });
}
