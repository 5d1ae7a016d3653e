/** What was found, as its reader sees it: by the field that holds the words, with the line they stand in. */
import type { SearchResult } from '../../contract/types.ts';
import type { Place } from '../access/board-access.ts';
import type { ReadTx } from '../db/tx.ts';
import { filesWithIds, latestVersions } from '../files/files.store.ts';
import { seqsOf } from '../messages/messages.store.ts';
import { type Field, fileFields, searchedFields, taskFields } from '../search/fields.rules.ts';
import type { Hit } from '../search/search.store.ts';
import { textsOf } from '../search/texts.store.ts';
import { matchesIn, type SearchQuery, snippetOf } from '../search/words.rules.ts';
import { latestTexts, tasksWithIds } from '../tasks/tasks.store.ts';
import { indexBy } from '../text/rows.ts';
import { timestamp } from '../text/time.ts';
import { messagesAt } from './message.ts';
import { taskRefView } from './tasks/task-ref.ts';

interface Found {
  tx: ReadTx;
  /** The boards that are searched, by their ids. */
  places: ReadonlyMap<string, Place>;
  query: SearchQuery;
}

/** Of each of the hits; null for one that changed since it was indexed, and does not hold the words now. */
export async function resultsOf(found: Found, hits: readonly Hit[]): Promise<(SearchResult | null)[]> {
  const results = new Map<string, SearchResult>();
  for (const [boardId, group] of Map.groupBy(hits, (hit) => hit.board_id)) {
    const place = found.places.get(boardId);
    if (!place) continue;
    const ids = (kind: Hit['kind']) => group.filter((hit) => hit.kind === kind).map((hit) => hit.ref_id);
    await addMessages(found, place, ids('message'), results);
    await addTasks(found, place, ids('task'), results);
    await addFiles(found, place, ids('file'), results);
  }
  return hits.map((hit) => results.get(hit.ref_id) ?? null);
}

type Results = Map<string, SearchResult>;

async function addMessages({ tx, query }: Found, place: Place, ids: string[], results: Results): Promise<void> {
  if (ids.length === 0) return;
  for (const message of await messagesAt(tx, place, await seqsOf(tx, ids))) {
    const shown = shownOf(searchedFields(message), query);
    if (shown) results.set(message.id, { kind: 'message', board: place.board.name, at: message.at, ...shown, message });
  }
}

async function addTasks({ tx, query }: Found, place: Place, ids: string[], results: Results): Promise<void> {
  if (ids.length === 0) return;
  const texts = await latestTexts(tx, ids);
  for (const task of await tasksWithIds(tx, ids)) {
    const shown = shownOf(taskFields(task, texts.get(task.id)), query);
    if (!shown) continue;
    results.set(task.id, {
      kind: 'task',
      board: place.board.name,
      at: timestamp(task.updated_at),
      ...shown,
      task: { ...taskRefView(task), state: task.state },
    });
  }
}

async function addFiles({ tx, query }: Found, place: Place, ids: string[], results: Results): Promise<void> {
  if (ids.length === 0) return;
  const versions = indexBy(await latestVersions(tx, ids), 'file_id');
  const texts = indexBy(await textsOf(tx, ids), 'file_id');
  for (const file of await filesWithIds(tx, ids)) {
    const latest = versions.get(file.id);
    if (!latest || file.removed_at !== null) continue;
    const kept = texts.get(file.id);
    const text = kept?.digest === latest.digest ? (kept.text ?? '') : '';
    const shown = shownOf(fileFields({ name: file.name, text }), query);
    if (!shown) continue;
    results.set(file.id, {
      kind: 'file',
      board: place.board.name,
      at: timestamp(file.latest_at),
      ...shown,
      file: { id: file.id, name: file.name, version: latest.version, media_type: latest.media_type },
    });
  }
}

type Shown = Pick<SearchResult, 'score' | 'field' | 'snippet' | 'matches'>;

/** By the first field that holds one of the words; null: none does. */
function shownOf(all: readonly Field[], query: SearchQuery): Shown | null {
  const fields = all.map((field) => ({ ...field, matches: matchesIn(field.text, query) }));
  const shown = fields.find(({ matches }) => matches.count > 0);
  if (!shown) return null;
  return {
    score: fields.reduce((sum, field) => sum + field.matches.count, 0),
    field: shown.name,
    ...snippetOf(shown.text, shown.matches.first),
  };
}
