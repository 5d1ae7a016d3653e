/** Conversations of programs that are run once for each bundle: which one of an agent goes on with the next. */
import { join } from 'node:path';
import { runtime } from '../../../cli/runtime.ts';
import { withLock } from '../../../local/lock.ts';
import { parseOwn, readPrivate, writePrivate } from '../../../local/private-file.ts';

interface Conversation {
  harness: string;
  session: string;
  /** A program finds its conversations by the folder they were had in. */
  dir: string;
  at: string;
}

interface Conversations {
  v: 1;
  /** By the member id of the agent. */
  conversations: Record<string, Conversation>;
}

const KEPT_MS = 90 * 86_400_000;
const pathOf = (): string => join(runtime().folders.state, 'conversations.json');

/** The conversation of an agent with a program in a folder; null where there is none. */
export function conversationOf(memberId: string, harness: string, dir: string): string | null {
  const found = read().conversations[memberId];
  return found && found.harness === harness && found.dir === dir ? found.session : null;
}

/** Notes the conversation, or that there is none any more. Those of ninety days ago are dropped. */
export async function noteConversation(memberId: string, harness: string, dir: string, session: string | null) {
  await withLock(`${pathOf()}.lock`, () => {
    const { conversations } = read();
    const old = Date.now() - KEPT_MS;
    const kept = Object.entries(conversations).filter(([id, { at }]) => id !== memberId && Date.parse(at) > old);
    const own = session === null ? [] : [[memberId, { harness, session, dir, at: new Date().toISOString() }] as const];
    writePrivate(pathOf(), `${JSON.stringify({ v: 1, conversations: Object.fromEntries([...kept, ...own]) })}\n`);
  });
}

function read(): Conversations {
  const text = readPrivate(pathOf());
  return text === null ? { v: 1, conversations: {} } : parseOwn(pathOf(), text, isConversations);
}

const isConversations = (value: unknown): value is Conversations =>
  typeof value === 'object' &&
  value !== null &&
  (value as Conversations).v === 1 &&
  typeof (value as Conversations).conversations === 'object';
