/**
 * The inbox: everything that needs the person, most urgent first, and the details of one item.
 */
import './inbox.css';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon, IconButton } from '../parts/icon.tsx';
import { Options, Question } from '../parts/options.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { Glyph } from '../parts/who.tsx';
import { isFocusLost } from '../state/focus.ts';
import { useKeys } from '../state/keys.ts';
import { needs, needsError, openAsks, pendingApprovals, readNeeds } from '../state/needs.ts';
import { hrefOf, navigate, place } from '../state/route.ts';
import { AgentNeedDetail } from './agent-need-detail.tsx';
import { ApprovalDetail } from './approval-detail.tsx';
import { AskDetail } from './ask-detail.tsx';
import { Blocks } from './blocks.tsx';
import { groups } from './groups.ts';
import { InviteDetail } from './invite-detail.tsx';
import { type Item, itemPlace } from './items.ts';
import { readDecided, readLists } from './lists.ts';
import { PairingDetail } from './pairing-detail.tsx';
import { QuietAgents } from './quiet-agents.tsx';

type Chosen = Pick<Item, 'kind' | 'id'>;

const nameOf = ({ kind, id }: Chosen): string => `item-${kind}-${id}`;

export default function Inbox() {
  const here = place.value.screen === 'inbox' ? place.value : null;
  const flat = groups.value.flatMap(({ items }) => items);
  // The first item stays selected, even if a more urgent one arrives or an answer moves it to another group.
  const [first, setFirst] = useState<Chosen | null>(null);
  const named: Chosen | null = here?.kind && here.id ? { kind: here.kind, id: here.id } : null;
  const chosen = named ?? first;
  const at = flat.findIndex(({ id }) => id === chosen?.id);
  const group = groups.value.find(({ items }) => items.some(({ id }) => id === chosen?.id))?.name;
  /** Where the chosen item stood: an answer moves it to another group, and j and k go on from here. */
  const stood = useRef({ id: chosen?.id, group, at });
  if (stood.current.id !== chosen?.id || [group, undefined].includes(stood.current.group))
    stood.current = { id: chosen?.id, group, at };
  const moved = stood.current.group !== group;
  // The last one of its group may stand there still, as the first one of the next.
  const next = moved && at !== stood.current.at ? stood.current.at : at + 1;
  const previous = (moved ? stood.current.at : at) - 1;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    void readNeeds();
    void readLists();
  }, []);
  // An ask that opens or closes, and an approval that makes an invite, also change the other lists.
  useEffect(() => void readLists(), [openAsks.value, pendingApprovals.value]);
  useEffect(() => void readDecided(), [pendingApprovals.value]);
  useEffect(() => {
    if (!first && flat[0]) setFirst(flat[0]);
  }, [first, flat[0]]);

  /** The item that was moved to and has no focus yet. It gets it before the next key is pressed. */
  const toFocus = useRef<Item | null>(null);
  useLayoutEffect(() => {
    if (!toFocus.current) return;
    const link = document.getElementById(nameOf(toFocus.current));
    toFocus.current = null;
    if (link?.checkVisibility()) link.focus();
    else document.getElementById('inbox-title')?.focus();
  });
  useLayoutEffect(() => {
    if (moved && chosen && isFocusLost()) document.getElementById(nameOf(chosen))?.focus();
  }, [group]);
  const move = (to: number): false | undefined => {
    const item = flat[to];
    if (!item) return false;
    toFocus.current = item;
    navigate(itemPlace(item), { replace: named !== null });
  };
  useKeys(
    'Needs you',
    [
      { keys: 'j', label: 'Next', run: () => move(next) },
      { keys: 'k', label: 'Previous', run: () => move(previous) },
      { keys: 'Escape', label: 'Back to the list', run: () => (named ? navigate({ screen: 'inbox' }) : false) },
    ],
    [next, previous, flat.map(({ id }) => id).join()],
  );
  const count = needs.value.length;
  return (
    <main class={named ? 'main one' : 'main'} id="main">
      <header class="hd plain">
        <div class="t">
          {named && (
            <a class="b bare ic mob" href="/inbox" aria-label="Back to the list">
              <Icon name="left" />
            </a>
          )}
          <h1 class={named ? 'desk' : undefined}>Needs you</h1>
          {count > 0 && <span class={named ? 'you desk' : 'you'}>{count}</span>}
          {named && <span class="mob at-of">{at < 0 ? 'Needs you' : `${at + 1} of ${flat.length}`}</span>}
          <span class="sp" />
          {named && (
            <>
              <IconButton icon="up" label="Previous" class="mob" onClick={() => move(previous)} />
              <IconButton icon="down" label="Next" class="mob" onClick={() => move(next)} />
            </>
          )}
          <KeysHint />
        </div>
      </header>
      <div class="inbox">
        <nav class="il" aria-label="Needs you" ref={list}>
          <ProblemLine error={needsError.value} onRetry={() => readNeeds()} />
          {groups.value.map(({ name, items }) => (
            <section key={name} aria-label={name}>
              {name === 'Needs you' ? items.length === 0 && <Nothing /> : <h2 class="ih">{name}</h2>}
              <ul>
                {items.map((item) => (
                  <Line key={item.id} item={item} current={item.id === chosen?.id} />
                ))}
              </ul>
            </section>
          ))}
          <QuietAgents />
        </nav>
        <section class="idet" aria-label="What it is about">
          <div class="col">{chosen && <Detail key={chosen.id} {...chosen} />}</div>
        </section>
      </div>
    </main>
  );
}

const KeysHint = () => (
  <div class="keys desk" aria-hidden="true">
    <span>
      <kbd>j</kbd> <kbd>k</kbd> next, previous
    </span>
    <span>
      <kbd>1</kbd>–<kbd>4</kbd> answer
    </span>
    <span>
      <kbd>r</kbd> write
    </span>
    <span>
      <kbd>Enter</kbd> open in the board
    </span>
  </div>
);

/** The empty state. */
function Nothing() {
  if (openAsks.value === null) return needsError.value === null ? <div aria-busy="true" /> : null;
  return (
    <div class="nothing">
      <b>Nothing needs you</b>
      <p class="q2">
        Questions to you, requests of your agents and work that others propose come here, whatever board they are on.
      </p>
    </div>
  );
}

function Line({ item, current }: { item: Item; current: boolean }) {
  const { who, board, before, title, rest, whole, note, blocks, when, need } = item;
  return (
    <li class={current ? 'cur' : undefined}>
      <a
        id={nameOf(item)}
        class={current ? 'ir cur' : 'ir'}
        href={hrefOf(itemPlace(item))}
        aria-current={current ? 'true' : undefined}
      >
        <Glyph who={who} size={28} />
        <span class="sp">
          <span class="row sm q2">
            <span class="cut">
              <b class={who.kind === 'agent' ? 'mono' : undefined}>{who.name}</b>
              {board && ` in ${board}`}
            </span>
            <span class="sp" />
            <span class="nw">{when}</span>
          </span>
          <b class="qq">
            <Question before={before} title={title} rest={rest} />
          </b>
          <span class="sm q2">{blocks ? <Blocks note={note} /> : note}</span>
        </span>
      </a>
      {need?.kind === 'ask' && whole && (
        <div class="mob">
          <Options message={need.message} />
        </div>
      )}
      {need && !whole && (
        <a class="b mob look" href={hrefOf(itemPlace(item))}>
          Look at it
        </a>
      )}
    </li>
  );
}

function Detail({ kind, id }: Chosen) {
  switch (kind) {
    case 'asks':
      return <AskDetail id={id} />;
    case 'approvals':
      return <ApprovalDetail id={id} />;
    case 'agents':
      return <AgentNeedDetail id={id} />;
    case 'pairings':
      return <PairingDetail id={id} />;
    case 'invites':
      return <InviteDetail id={id} />;
  }
}
