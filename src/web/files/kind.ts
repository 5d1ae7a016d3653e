/** How files are shown. */
import { isBriefPath } from '../../contract/ids.ts';
import type { BoardFile } from '../../contract/types.ts';
import { plural } from '../parts/number.ts';

type Kind = 'markdown' | 'html' | 'text' | 'image' | 'pdf' | 'other';

const images = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/svg+xml'];
const texts = /^(text\/|application\/(json|x-ndjson|yaml|toml|xml|javascript)\b)/;

/** Classifies a media type. The content is never inspected to guess a type. */
export function kindOf(mediaType: string): Kind {
  const type = mediaType.split(';', 1)[0]!.trim();
  if (type === 'text/markdown') return 'markdown';
  if (type === 'text/html') return 'html';
  if (type === 'application/pdf') return 'pdf';
  if (images.includes(type)) return 'image';
  return texts.test(type) ? 'text' : 'other';
}

/** Whether versions can be compared line by line. */
export const isText = (mediaType: string): boolean => ['markdown', 'html', 'text'].includes(kindOf(mediaType));

/** "9 messages, 1 task done and 1 answer since v3", or null. */
export function describeFreshness({ freshness, latest }: Pick<BoardFile, 'freshness' | 'latest'>): string | null {
  const { messages_since: messages, tasks_done_since: tasks, answers_since: answers } = freshness;
  const parts = [
    messages > 0 && plural(messages, 'message'),
    tasks > 0 && `${plural(tasks, 'task')} done`,
    answers > 0 && plural(answers, 'answer'),
  ].filter((part) => part !== false);
  if (parts.length === 0) return null;
  const last = parts.pop();
  return `${parts.length > 0 ? `${parts.join(', ')} and ` : ''}${last} since v${latest.version}`;
}

/** "no changes since", "2 changes since". */
export const changesSince = (count: number): string =>
  count === 0 ? 'no changes since' : `${plural(count, 'change')} since`;

/** The upload option for a file with one of the two names of the brief. */
export const briefOption = (name: string): { brief?: true } => (isBriefPath(name) ? { brief: true } : {});
