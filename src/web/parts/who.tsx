/** Avatars and names. A person is a circle, an agent a square in the hue of its owner. */
import type { Actor, Member } from '../../contract/types.ts';

/** The state of an agent, as in the API. */
export type AgentState = NonNullable<Member['state']>;

export interface Identity {
  name: string;
  kind: 'agent' | 'human';
  owner: string | null;
  state?: AgentState | null;
}

const HUES = 6;

/** Picks one of six hues by hashing a name, so that a person has the same hue everywhere. */
function hueOf(person: string): number {
  let hash = 2166136261;
  for (const character of person) hash = Math.imul(hash ^ character.charCodeAt(0), 16777619);
  // The lower bits of FNV-1a vary little for short names; the final steps of MurmurHash3 mix them.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  hash ^= hash >>> 16;
  return ((hash >>> 0) % HUES) + 1;
}

/** Two letters for an agent: the first two, or, if another agent shares them, the first and the first that differs. */
function initials(name: string, others: readonly string[] = []): string {
  const letters = name.replaceAll('-', '');
  const same = others.find((other) => other !== name && other.replaceAll('-', '').slice(0, 2) === letters.slice(0, 2));
  if (same === undefined) return letters.slice(0, 2);
  const rest = same.replaceAll('-', '');
  const differs = [...letters].findIndex((letter, index) => index > 1 && letter !== rest[index]);
  return letters[0]! + (letters[differs] ?? letters[1] ?? '');
}

/** What a state changes of an agent's avatar: its cursor is that of an idle agent. Without a state it has none. */
const presenceClass: Partial<Record<AgentState, string>> = { working: ' on', disconnected: ' off', late: ' off' };

/** The avatar of a person or agent. `size` in pixels; `others`: names that its letters should differ from. */
export function Glyph({ who, size = 32, others }: { who: Identity; size?: 20 | 24 | 28 | 32 | 40; others?: string[] }) {
  const hue = hueOf(who.owner ?? who.name);
  const agent = who.kind === 'agent';
  const presence = who.state ? (presenceClass[who.state] ?? '') : ' still';
  const shape = agent ? `a${presence}` : 'p';
  return (
    <span class={`g ${shape} H${hue} s${size}`} aria-hidden="true">
      {agent ? initials(who.name, others) : who.name.slice(0, 1).toUpperCase()}
    </span>
  );
}

/** A name; for an agent with its owner. */
export const Name = ({ who }: { who: Identity | Actor }) =>
  who.kind === 'human' ? (
    <b class="n">{who.name}</b>
  ) : (
    <>
      <b class="n ag">{who.name}</b>{' '}
      <span class="own">
        <span class="vh">agent, </span>
        {who.owner}’s
      </span>
    </>
  );

const shapes: Record<AgentState, preact.JSX.Element> = {
  working: <circle cx="5" cy="5" r="4.2" fill="currentColor" />,
  idle: <circle cx="5" cy="5" r="3.5" fill="none" stroke="currentColor" stroke-width="1.5" />,
  waiting: <path d="M5 .8 9.2 5 5 9.2.8 5z" fill="currentColor" />,
  paused: <path d="M2.5 1.5v7M7.5 1.5v7" stroke="currentColor" stroke-width="2" stroke-linecap="round" />,
  braked: <path d="M1.5 5h7" stroke="currentColor" stroke-width="2.4" stroke-linecap="round" />,
  late: <path d="M5 .8 9.4 9H.6z" fill="currentColor" />,
  disconnected: <path d="m2 2 6 6M8 2 2 8" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" />,
};

/** The state of an agent as a shape and a word; `words` replaces the word. */
export const Presence = ({ state, words }: { state: AgentState; words?: string | undefined }) => (
  <span class={`pr ${state}`}>
    <svg viewBox="0 0 10 10" aria-hidden="true">
      {shapes[state]}
    </svg>
    {words ?? state}
  </span>
);

/** "maya", "maya and fixer", "maya, codex and fixer". */
export const joinNames = (names: readonly string[]): string =>
  names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : (names[0] ?? '');
