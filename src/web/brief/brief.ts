/** The brief of the open board: whether it is open, and its text. */
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { HOUR } from '../../contract/durations.ts';
import type { Brief } from '../../contract/types.ts';
import { MAX_TEXT_BYTES, readText } from '../api/bytes.ts';
import { plainText } from '../parts/plain-text.ts';
import { useLoad } from '../state/load.ts';
import type { Room } from '../state/room.ts';

/** The name of the board whose brief is open, or null. */
export const openBrief = signal<string | null>(null);

/** Loads the text of a brief. Undefined: not loaded yet or too long; null: loading failed. */
export function useBriefText(room: Room, brief: Brief | null | undefined): string | null | undefined {
  const read = async (): Promise<string | undefined> => {
    if (!brief || brief.size > MAX_TEXT_BYTES) return undefined;
    return readText({ board: room.name, file: brief.file_id, version: brief.version });
  };
  const { value, error } = useLoad(read, [brief?.digest]);
  return error === null ? (value ?? undefined) : null;
}

/** The first words of the brief after its heading. */
export function useFirstWords(text: string | null | undefined, isHtml: boolean): string {
  const [words, setWords] = useState('');
  useEffect(() => {
    if (!text) return setWords('');
    if (!isHtml) {
      const body = text.replace(/^\s*#{1,6} .*$/m, '');
      return setWords(plainText(/\S/.test(body) ? body : text).slice(0, 200));
    }
    let current = true;
    void import('../parts/html-preview.tsx').then(({ htmlToText }) => {
      if (current) setWords(htmlToText(text).slice(0, 200));
    });
    return () => {
      current = false;
    };
  }, [text, isHtml]);
  return words;
}

/** The number of messages since the brief was saved, counted live. */
export function useMessagesSince(room: Room): number {
  const board = room.board.value;
  const [posted, setPosted] = useState<readonly number[]>([]);
  useEffect(
    () =>
      room.subscribe(({ event: { type, seq } }) => {
        if (type === 'message.posted') setPosted((seqs) => [...seqs, seq]);
      }),
    [room],
  );
  // A board that was read before a message came does not count it.
  const more = posted.filter((seq) => seq > (board?.head_seq ?? 0));
  return (board?.brief?.freshness.messages_since ?? 0) + more.length;
}

/** Whether the brief is older than an hour and much has happened since. */
export const mayBeOutdated = ({ at, freshness }: Brief, messages: number, time: number): boolean =>
  time - Date.parse(at) > HOUR && (messages >= 30 || freshness.tasks_done_since >= 3);
