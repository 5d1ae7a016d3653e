/** Parses references to messages, and targets. */
import { sameServer } from '../../../../cli/session/board.ts';
import type { BoardSession, Session } from '../../../../cli/session/open-session.ts';
import type { Message } from '../../../../contract/types.ts';
import { Failure, usage } from '../../../../local/failure.ts';

interface MessageRef {
  id?: string;
  seq?: number;
  board?: string;
  /** The server of a link, such as `https://team.example.com`. */
  origin?: string;
}

/** Reads `msg_…`, `6`, `#6`, `board#6` or a link to a message. */
export function messageRef(text: string): MessageRef {
  if (/^msg_[0-9A-HJKMNP-TV-Z]{26}$/.test(text)) return { id: text };
  const plain = /^#?(\d{1,15})$/.exec(text);
  if (plain && Number(plain[1]) > 0) return { seq: Number(plain[1]) };
  const onBoard = /^([a-z0-9][a-z0-9-]*|brd_[0-9A-Z]{26})#(\d{1,15})$/.exec(text);
  if (onBoard) return { board: onBoard[1] as string, seq: Number(onBoard[2]) };
  return linkRef(text) ?? invalid(text);
}

/** The board that a reference to a message names, if it does. */
export const boardNamed = (text: string): string | undefined => messageRef(text).board;

/** The message a reference means on a board. @throws Failure where the reference names another than --board does. */
export async function findMessage(session: BoardSession, text: string): Promise<Message> {
  return (await readMessage(session, text)).message;
}

/** The message and who it went to. @throws as `findMessage` */
export async function readMessage(session: BoardSession, text: string) {
  const { client, board, choice, server } = session;
  const ref = messageRef(text);
  if (ref.origin && !sameServer(ref.origin, session))
    throw usage(`${text} is on another server than ${server.url}.`, `Name it: --server ${ref.origin}`);
  if (ref.id) return (await client.call('getMessage', { params: { message: ref.id } })).data;
  const params = { board: ref.board ?? board, seq: ref.seq as number };
  const { data } = await client.call('getMessageBySeq', { params });
  const { board: found } = data.message;
  if (ref.board && choice.board && found !== board)
    throw usage(`${text} is on ${found}, not on ${board}.`, 'Leave --board out');
  return data;
}

/** Targets as the server takes them; `mine` is the agents of the person who posts, whose handle may have been changed elsewhere. */
export async function targets(
  given: string[] | undefined,
  { client, agent }: Pick<Session, 'client' | 'agent'>,
): Promise<string[] | undefined> {
  const list = given?.map((target) => target.trim()).filter(Boolean);
  if (!list?.length) return undefined;
  if (!list.includes('mine')) return list;
  if (agent)
    throw usage('--to mine means the agents of the person who posts; an agent names them.', '--to owner:<handle>');
  const { name } = (await client.call('getMe')).data;
  return list.map((target) => (target === 'mine' ? `owner:${name}` : target));
}

function linkRef(text: string): MessageRef | null {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  const parameters = new URLSearchParams(url.hash.slice(1) || url.search);
  const board = parameters.get('board') ?? url.searchParams.get('board');
  const seq = Number(parameters.get('message') ?? parameters.get('seq') ?? url.searchParams.get('message'));
  return board && Number.isSafeInteger(seq) && seq > 0 ? { board, seq, origin: url.origin } : null;
}

function invalid(text: string): never {
  throw new Failure('message_ref_invalid', `"${text}" is not a reference to a message.`, {
    hint: 'Use its number, such as 6, or its id (msg_…)',
  });
}
