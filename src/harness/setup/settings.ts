/** Adds our hooks to a settings file of a harness, and removes them again, which restores the file byte for byte. */
import { findNodeAtLocation, getNodeValue, type Node } from 'jsonc-parser';
import { addItem, addMember, formatValue, isEmpty, replaced, styleOf, withoutEmpty, withoutEntry } from './edits.ts';
import { ownRun, type WantedHook } from './entries.ts';
import { Unreadable } from './files.ts';
import { endOf, itemsOf, membersOf, parseJsonc } from './jsonc.ts';

/** The changes made to a file, so that they can be undone exactly. */
export interface Trace {
  /** The inserted texts, in order. */
  inserted: string[];
  /** Objects and arrays that were created, as dotted paths. */
  created: string[];
}

interface Settings extends Trace {
  text: string;
}

/** The file with exactly the wanted groups of this harness. @param before the changes of the last run */
export function withHooks(text: string, harness: string, wanted: WantedHook[], before: Trace): Settings {
  let current: Settings = { text, inserted: [...before.inserted], created: [...before.created] };
  current = withoutUnwanted(current, harness, wanted);
  for (const one of wanted) current = withGroup(current, harness, one);
  return current;
}

/** The file without any hook of ours. */
export function withoutHooks(text: string, harness: string, trace: Trace): string {
  const cut = withoutInserted(text, trace.inserted);
  let current = cut;
  for (;;) {
    const place = findOwn(current, harness, () => true);
    if (!place) return withoutEmpty(current, trace.created);
    current = withoutPlace(current, place);
  }
}

/** The file with a rule in `permissions.allow`. */
export function withRule(text: string, rule: string, before: Trace): Settings {
  const current: Settings = { text, inserted: [...before.inserted], created: [...before.created] };
  return hasRule(text, rule) ? current : put(current, ['permissions', 'allow'], rule);
}

/** The file without the rule, where it is still the one that was put in. */
export function withoutRule(text: string, rule: string, trace: Trace): string {
  const cut = withoutInserted(text, trace.inserted);
  const item = rulesIn(cut).find(({ value }) => value === rule);
  return withoutEmpty(item ? withoutEntry(cut, item.parent!, item) : cut, trace.created);
}

/** Whether a file is JSON without comments and trailing commas. Some programs ignore the whole file otherwise. */
export function isPlainJson(text: string): boolean {
  try {
    JSON.parse(text.replace(/^\ufeff/, ''));
    return true;
  } catch {
    return false;
  }
}

/** Whether the file is an empty object. */
export function isBlank(text: string): boolean {
  const node = root(text);
  return node.type === 'object' && isEmpty(text, node);
}

/** Our hooks in a file, sorted, so that two files can be compared. */
export function ownHooks(text: string, harness: string): string[] {
  const found = membersOf(findNodeAtLocation(root(text), ['hooks'])).flatMap(([event, groups]) =>
    itemsOf(groups).flatMap((group) =>
      entriesOf(group)
        .filter((entry) => runIn(entry, harness) !== null)
        .map((entry) => hookLine(event, findNodeAtLocation(group, ['matcher']), getNodeValue(entry))),
    ),
  );
  return found.sort();
}

/** The wanted hooks in the same form. */
export const wantedHooks = (wanted: readonly WantedHook[]): string[] =>
  wanted
    .flatMap(({ event, group: { matcher, hooks } }) =>
      hooks.map((entry) => JSON.stringify([event, matcher ?? null, entry])),
    )
    .sort();

const hookLine = (event: string, matcher: Node | undefined, entry: unknown): string =>
  JSON.stringify([event, matcher ? getNodeValue(matcher) : null, entry]);

/** Whether `permissions.allow` contains a rule. */
export const hasRule = (text: string, rule: string): boolean => rulesIn(text).some(({ value }) => value === rule);

const rulesIn = (text: string): Node[] => itemsOf(findNodeAtLocation(root(text), ['permissions', 'allow']));

/** Removes the inserted texts, last first. Texts that were edited since are handled by the caller. */
function withoutInserted(text: string, inserted: readonly string[]): string {
  return inserted.toReversed().reduce((current, piece) => {
    const start = current.lastIndexOf(piece);
    const cut = start < 0 ? current : current.slice(0, start) + current.slice(start + piece.length);
    // It stood alone in its lines: what was written before it since may now have a comma too many.
    const wasAlone = /\s$/.test(piece);
    return wasAlone && isPlainJson(current) && !isPlainJson(cut) ? current : cut;
  }, text);
}

function root(text: string): Node {
  try {
    return parseJsonc(text);
  } catch (error) {
    throw new Unreadable((error as Error).message);
  }
}

interface Place {
  event: string;
  group: Node;
  entry: Node;
}

/** The first entry of ours that `which` accepts. */
function findOwn(text: string, harness: string, which: (event: string, run: string) => boolean): Place | null {
  for (const [event, groups] of membersOf(findNodeAtLocation(root(text), ['hooks'])))
    for (const group of itemsOf(groups))
      for (const entry of entriesOf(group)) {
        const run = runIn(entry, harness);
        if (run !== null && which(event, run)) return { event, group, entry };
      }
  return null;
}

const entriesOf = (group: Node): Node[] => itemsOf(findNodeAtLocation(group, ['hooks']));

/** The hook that an entry runs, where it is one of ours. */
const runIn = (entry: Node, harness: string): string | null =>
  ownRun((getNodeValue(entry) as { command?: unknown } | null)?.command, harness);

/** Removes an entry, and its group if that is empty then. */
const withoutPlace = (text: string, { group, entry }: Place): string =>
  entriesOf(group).length === 1 ? withoutEntry(text, group.parent!, group) : withoutEntry(text, entry.parent!, entry);

/** Removes our entries of unwanted events, and duplicates. */
function withoutUnwanted(settings: Settings, harness: string, wanted: WantedHook[]): Settings {
  let { text } = settings;
  for (;;) {
    const seen = new Set<string>();
    const place = findOwn(text, harness, (event, run) => {
      const known = wanted.some((one) => one.event === event && runOf(one, harness) === run);
      const again = seen.has(`${event} ${run}`);
      seen.add(`${event} ${run}`);
      return !known || again;
    });
    if (!place) return { ...settings, text: withoutEmpty(text, settings.created.filter(isEventOf(wanted))) };
    text = withoutPlace(text, place);
  }
}

/** Containers of events that are no longer wanted. */
const isEventOf = (wanted: WantedHook[]) => (path: string) =>
  path !== 'hooks' && !wanted.some(({ event }) => path === `hooks.${event}`);

const runOf = ({ group }: WantedHook, harness: string): string | null => ownRun(group.hooks[0]!.command, harness);

function withGroup(settings: Settings, harness: string, wanted: WantedHook): Settings {
  const { event, group } = wanted;
  const { text } = settings;
  const place = findOwn(text, harness, (found, run) => found === event && run === runOf(wanted, harness));
  if (!place) return put(settings, ['hooks', event], group);
  const node = place.group;
  if (JSON.stringify(getNodeValue(node)) === JSON.stringify(group)) return settings;
  // An entry that shares a group with a foreign one moves into its own group.
  if (entriesOf(node).length > 1) return put({ ...settings, text: withoutPlace(text, place) }, ['hooks', event], group);
  const fresh = formatValue(group, 3, styleOf(text));
  const old = text.slice(node.offset, endOf(node));
  return {
    ...settings,
    text: replaced(text, node, fresh),
    inserted: settings.inserted.map((piece) => piece.replace(old, () => fresh)),
  };
}

/** Appends to the array at a path of two names, and creates missing containers. */
function put(settings: Settings, [outer, inner]: [string, string], value: unknown): Settings {
  const { text } = settings;
  const top = root(text);
  if (top.type !== 'object') throw new Unreadable('it is no object');
  const section = findNodeAtLocation(top, [outer]);
  const list = findNodeAtLocation(top, [outer, inner]);
  if (section && section.type !== 'object') throw new Unreadable(`${outer} is no object`);
  if (list && list.type !== 'array') throw new Unreadable(`${outer}.${inner} is no list`);
  const made = list
    ? { ...addItem(text, list, value, 2), created: [] }
    : section
      ? { ...addMember(text, section, inner, [value], 1), created: [`${outer}.${inner}`] }
      : { ...addMember(text, top, outer, { [inner]: [value] }, 0), created: [outer, `${outer}.${inner}`] };
  return {
    text: made.text,
    inserted: [...settings.inserted, made.inserted],
    created: [...new Set([...settings.created, ...made.created])],
  };
}
