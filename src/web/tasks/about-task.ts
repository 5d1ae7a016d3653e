/** Loads the asks, files and messages of a task, and again after events. */
import { useEffect, useState } from 'preact/hooks';
import type { BoardFile, Message } from '../../contract/types.ts';
import { call, readAll } from '../api/client.ts';
import { listenToReturn } from '../live/link.ts';
import type { Room } from '../state/room.ts';

const PAGE = 20;

export interface AboutTask {
  /** Whether the first read is under way. */
  loading: boolean;
  /** Newest first. */
  asks: Message[];
  files: BoardFile[];
  /** The latest messages and loaded earlier ones, oldest first. */
  messages: Message[];
  /** Whether there are earlier messages. */
  more: boolean;
  error: unknown;
  refresh(): void;
  loadMore(): Promise<void>;
}

interface Loaded {
  messages: Message[];
  /** Earlier messages are before this number; null: there are none. */
  before: number | null;
}

export function useAboutTask(room: Room, task: string): AboutTask {
  const [loading, setLoading] = useState(true);
  const [asks, setAsks] = useState<Message[]>([]);
  const [files, setFiles] = useState<BoardFile[]>([]);
  const [{ messages, before }, setMessages] = useState<Loaded>({ messages: [], before: null });
  const [error, setError] = useState<unknown>(null);
  const [version, setAgain] = useState(0);
  const board = room.name;

  useEffect(() => {
    let ended = false;
    const read = async (): Promise<void> => {
      const query = { task, limit: PAGE, newest: true };
      const [found, page, attached] = await Promise.all([
        readAll('listAsks', 'asks', { query: { board, task, state: 'all', limit: 200 } }),
        call('listMessages', { params: { board }, query }),
        readAll('listFiles', 'files', { params: { board }, query: { task, limit: 200 } }),
      ]);
      if (ended) return;
      setAsks(found);
      setFiles(attached);
      setMessages((old) => {
        const first = page.messages[0]?.seq ?? 0;
        // Earlier messages stay only if the page joins them, because nothing would load those between.
        if (!old.messages.some(({ seq }) => seq >= first)) return { messages: page.messages, before: page.prev_before };
        return { ...old, messages: [...old.messages.filter(({ seq }) => seq < first), ...page.messages] };
      });
      setError(null);
    };
    void read()
      .catch((failure: unknown) => {
        if (!ended) setError(failure);
      })
      .finally(() => setLoading(false));
    return () => {
      ended = true;
    };
  }, [board, task, version]);

  const refresh = (): void => setAgain((count) => count + 1);
  useEffect(
    () =>
      room.subscribeThrottled(
        ({ event, message }) =>
          event.type.startsWith('file.') || message?.answer || message?.about.some(({ id }) => id === task),
        refresh,
      ),
    [room, task],
  );
  useEffect(() => (error === null ? undefined : listenToReturn(refresh)), [error]);

  return {
    loading,
    asks,
    files,
    messages,
    more: before !== null,
    error,
    refresh,
    async loadMore() {
      if (before === null) return;
      const query = { task, limit: PAGE, newest: true, before };
      const page = await call('listMessages', { params: { board }, query });
      setMessages((old) =>
        old.before === before ? { messages: [...page.messages, ...old.messages], before: page.prev_before } : old,
      );
    },
  };
}
