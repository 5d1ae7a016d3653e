/** Lists of asks, grouped by board. */
import { requireFeature } from '../client/features.ts';
import type { Message } from '../contract/types.ts';
import { Failure } from '../local/failure.ts';
import { messageText } from './print/message.ts';
import type { Show } from './reading.ts';
import { called } from './runtime.ts';
import { type Session, staying } from './session.ts';
import { taskRef } from './tasks.ts';

export interface AskListWish {
  board: string | undefined;
  'to-me'?: boolean;
  'from-me'?: boolean;
  'can-answer'?: boolean;
  state?: string | undefined;
  task?: string | undefined;
  limit?: number | undefined;
  after?: string | undefined;
  all?: boolean;
}

const MOST = 5000;

export async function listAsks(session: Session, wish: AskListWish, { out, times }: Show): Promise<void> {
  await requireFeature(session.client, 'asks');
  const everything = wish.all || (out.mode === 'ndjson' && wish.limit === undefined);
  const asks: Message[] = [];
  let after = wish.after;
  let next: string | null;
  do {
    const query = { ...queryOf(wish), limit: wish.limit ?? (everything ? 200 : undefined), after };
    const { data } = await session.client.call('listAsks', { query });
    if (out.mode === 'ndjson') for (const ask of data.asks) out.each(ask);
    else asks.push(...data.asks);
    if (asks.length > MOST) throw tooMany();
    next = data.next_after;
    after = next ?? undefined;
  } while (everything && after !== undefined);
  if (out.mode === 'ndjson') return;
  const style = { paint: out.paint, times };
  out.print({ asks, next_after: next }, () =>
    [
      `asks · ${asks.length}`,
      ...byBoard(asks).flatMap(([board, own]) => [board, ...own.map((ask) => messageText(ask, style))]),
      ...(next === null ? [] : [called(`Later: service asks${flagsOf(wish)}${staying(session)} --after ${next}`)]),
    ].join('\n'),
  );
}

const queryOf = (wish: AskListWish) => ({
  board: wish.board,
  state: wish.state,
  task: wish.task === undefined ? undefined : taskRef(wish.task),
  ...(wish['to-me'] ? { to_me: true } : {}),
  ...(wish['from-me'] ? { from_me: true } : {}),
  ...(wish['can-answer'] ? { can_answer: true } : {}),
});

function byBoard(asks: Message[]): [string, Message[]][] {
  const boards = new Map<string, Message[]>();
  for (const ask of asks) boards.set(ask.board, [...(boards.get(ask.board) ?? []), ask]);
  return [...boards];
}

const flagsOf = (wish: AskListWish): string =>
  [
    wish['to-me'] ? ' --to-me' : '',
    wish['from-me'] ? ' --from-me' : '',
    wish['can-answer'] ? ' --can-answer' : '',
    wish.state ? ` --state ${wish.state}` : '',
    wish.task ? ` --task ${wish.task}` : '',
    wish.limit === undefined ? '' : ` --limit ${wish.limit}`,
  ].join('');

const tooMany = (): Failure =>
  new Failure('too_many_results', `There are more than ${MOST} asks.`, { hint: 'service asks --all --ndjson' });
