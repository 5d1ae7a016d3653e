/** Bringing the index up to a board's record. It is derived from what the board holds and can be thrown away. */
import { envelopeText } from '../../contract/chain.ts';
import type { EventActor } from '../../contract/types.ts';
import type { WriteTx } from '../db/tx.ts';
import { type FileRow, filesWithIds, latestVersions } from '../files/files.store.ts';
import { type EventRow, eventsIn } from '../record/events.store.ts';
import { latestTexts, tasksWithIds } from '../tasks/tasks.store.ts';
import { hashText, sha256 } from '../text/hash.ts';
import { idsIn, indexBy } from '../text/rows.ts';
import { timestamp } from '../text/time.ts';
import { type Field, fileFields, type SearchedMessage, searchedFields, taskFields } from './fields.rules.ts';
import { addDocs, type Doc, dropDocs, type Kind, progressOf, saveProgress } from './search.store.ts';
import { dropTexts, keepText, textsOf } from './texts.store.ts';
import { wordsOf } from './words.rules.ts';

/** Events in one transaction: few, because every write waits for it. */
const BATCH = 200;
/** Files of more bytes are found by their names only. */
const MAX_TEXT = 524_288;
/** Of a word in one text. The commonest word of a long English text comes 6,000 times. */
const MAX_PLACES = 30_000;
const INDEX = 'search index';
/** Events that change something that is searched. */
const TYPES = [
  'message.posted',
  'task.created',
  'task.started',
  'task.joined',
  'task.updated',
  'task.done',
  'task.dropped',
  'task.taken_over',
  'file.version_added',
  'file.renamed',
  'file.removed',
];

/** Indexes the next events of a board, up to `head` at most; answers whether more are waiting. */
export async function indexBatch(tx: WriteTx, boardId: string, head: number): Promise<boolean> {
  await tx.serialise(INDEX);
  const after = await progressOf(tx, boardId);
  if (after >= head) return false;
  // Both ends are named: without statistics Postgres would read the whole rest of the record for its first rows.
  const last = Math.min(after + BATCH, head);
  const read = await eventsIn(tx, { boardId, after, before: last + 1, types: TYPES }, 'asc', BATCH);
  const changes = read.filter(isSound);
  const messages = changes.flatMap((change) => messageDoc(boardId, change));
  await addDocs(tx, messages);
  await indexTasks(tx, boardId, namedBy(changes, 'task'));
  await indexFiles(tx, boardId, namedBy(changes, 'file'));
  await saveProgress(tx, boardId, last);
  return last < head;
}

/**
 * Takes in the text of a file, unless it has another version by now. @param digest of the bytes that were read.
 * @param text as it is searched; empty if the bytes are not text.
 */
export async function indexText(tx: WriteTx, fileId: string, digest: string, text: string): Promise<void> {
  await tx.serialise(INDEX);
  const [kept] = await textsOf(tx, [fileId]);
  if (kept?.digest !== digest || kept.text !== null) return;
  await keepText(tx, { file_id: fileId, digest, text });
  const [file] = await filesWithIds(tx, [fileId]);
  if (file && text !== '') await indexFiles(tx, file.board_id, [fileId]);
}

/** Of an event that was changed in the database nothing is found; the rest of its board is. */
function isSound({ data, ...event }: EventRow): boolean {
  try {
    const facts = {
      ...event,
      actor: JSON.parse(event.actor) as EventActor,
      at: timestamp(event.at),
      data_hash: `sha256:${sha256(data)}`,
      prev_hash: hashText(event.prev_hash),
    };
    return sha256(envelopeText(facts)) === event.hash.toString('hex');
  } catch {
    return false;
  }
}

function messageDoc(boardId: string, { type, at, data }: EventRow): Doc[] {
  if (type !== 'message.posted') return [];
  const message = JSON.parse(data) as SearchedMessage & { message_id: string };
  return [docOf('message', boardId, message.message_id, at, searchedFields(message))];
}

/** Ids of the tasks or files that changed, each once. */
function namedBy(changes: readonly EventRow[], kind: 'task' | 'file'): string[] {
  const events = changes.filter(({ type }) => type.startsWith(`${kind}.`));
  return [...new Set(events.map(({ data }) => (JSON.parse(data) as Record<string, string>)[`${kind}_id`] as string))];
}

/** As they are now. */
async function indexTasks(tx: WriteTx, boardId: string, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  const texts = await latestTexts(tx, ids);
  const docs = (await tasksWithIds(tx, ids)).map((task) =>
    docOf('task', boardId, task.id, task.updated_at, taskFields(task, texts.get(task.id))),
  );
  await dropDocs(tx, ids);
  await addDocs(tx, docs);
}

async function indexFiles(tx: WriteTx, boardId: string, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  const files = await filesWithIds(tx, ids);
  const live = files.filter((file) => file.removed_at === null);
  const texts = await currentTexts(tx, live);
  await dropDocs(tx, ids);
  await dropTexts(tx, idsIn(files.filter((file) => file.removed_at !== null)));
  const docs = live.map((file) => {
    const fields = fileFields({ name: file.name, text: texts.get(file.id) ?? '' });
    return docOf('file', boardId, file.id, file.latest_at, fields);
  });
  await addDocs(tx, docs);
}

/** What is known of the texts of their latest versions; what has to be read first is noted. */
async function currentTexts(tx: WriteTx, files: readonly FileRow[]): Promise<Map<string, string>> {
  const ids = idsIn(files);
  const kept = indexBy(await textsOf(tx, ids), 'file_id');
  const texts = new Map<string, string>();
  for (const { file_id, digest, size } of await latestVersions(tx, ids)) {
    const known = kept.get(file_id);
    if (known?.digest !== digest) await keepText(tx, { file_id, digest, text: size > MAX_TEXT ? '' : null });
    else if (known.text !== null) texts.set(file_id, known.text);
  }
  return texts;
}

const docOf = (kind: Kind, board_id: string, ref_id: string, at: number, fields: readonly Field[]): Doc => ({
  kind,
  board_id,
  ref_id,
  at,
  fields: fields.flatMap(wordsIn),
});

const wordsIn = ({ text, list }: Field): string[][] =>
  (list ? text.split('\n') : [text]).flatMap((each) => limited(wordsOf(each).map((word) => word.folded)));

/**
 * Words without those that came too often before; a phrase does not reach across one that is left out. An engine looks at
 * each place of each word of a phrase.
 */
function limited(words: readonly string[]): string[][] {
  const seen = new Map<string, number>();
  const parts: string[][] = [[]];
  for (const word of words) {
    const times = (seen.get(word) ?? 0) + 1;
    seen.set(word, times);
    if (times <= MAX_PLACES) parts.at(-1)?.push(word);
    else if (parts.at(-1)?.length !== 0) parts.push([]);
  }
  return parts;
}
