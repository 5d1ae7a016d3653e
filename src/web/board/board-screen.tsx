/** The screen of a board: its header and the open tab. */
import { Suspense } from 'preact/compat';
import { useEffect } from 'preact/hooks';
import { hasCode } from '../api/errors.ts';
import { session } from '../api/session.ts';
import { BriefBelow, BriefLine } from '../brief/brief-line.tsx';
import { Icon } from '../parts/icon.tsx';
import { lazy } from '../parts/lazy.ts';
import { PaletteButton } from '../parts/palette-button.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { linkedCode } from '../sign-in/linked-code.ts';
import { needsOnBoard } from '../state/needs.ts';
import { MAX_FILES, openRoom, type Room, room } from '../state/room.ts';
import { type BoardPlace, type BoardTab, hrefOf, place } from '../state/route.ts';
import { preloadParts, TalkMenu } from '../timeline/talk.tsx';
import { NowLine } from './now-line.tsx';
import { Tab } from './tab.tsx';

const Join = lazy(() => import('../compose/closed.tsx').then((module) => ({ default: module.Join })));

const titles: Record<BoardTab, string> = {
  talk: 'Talk',
  tasks: 'Tasks',
  files: 'Files',
  people: 'People',
  record: 'Record',
};

// Loads the board in parallel with the session, to show it sooner.
const first = place.peek();
if (first.screen === 'board' && session.peek() !== null && linkedCode.peek() === null) {
  openRoom(first.board);
  // After the requests for the board itself.
  if (first.tab === 'talk') setTimeout(preloadParts);
}

export function BoardScreen() {
  const here = place.value as BoardPlace;
  const { board: name } = here;
  useEffect(() => openRoom(name), [name]);
  useEffect(() => () => openRoom(null), []);
  const open = room.value;
  if (!open || open.name !== name) return <main class="main" id="main" aria-busy="true" />;
  if (open.error.value !== null && !open.board.value)
    return (
      <main class="page" id="main">
        <h1>{name}</h1>
        {hasCode(open.error.value, 'not_on_board') ? (
          <Suspense fallback={null}>
            <Join room={open} />
          </Suspense>
        ) : (
          <ProblemLine error={open.error.value} onRetry={() => open.refresh()} />
        )}
        <p class="q2">
          <a href="/">All boards</a>
        </p>
      </main>
    );
  return (
    <main class="main" id="main">
      <Header here={here} room={open} />
      <Tab here={here} room={open} />
    </main>
  );
}

function Header({ here, room }: { here: BoardPlace; room: Room }) {
  const board = room.board.value;
  const files = room.files.value.size;
  const counts: Partial<Record<BoardTab, number | string | undefined>> = {
    tasks: (room.tasks.value?.open ?? 0) + (room.tasks.value?.in_progress ?? 0),
    files: files < MAX_FILES ? files : `${MAX_FILES}+`,
    people: board ? board.people_count + (board.agent_count ?? 0) : undefined,
  };
  return (
    <header class="hd">
      <div class="t">
        <a class="b bare ic mt" href="/" aria-label="All boards">
          <Icon name="left" />
        </a>
        <h1 class="cut">{board?.title ?? here.board}</h1>
        <NowLine room={room} needs={needsOnBoard(here.board).length} />
        <span class="sp mob" />
        <PaletteButton />
        <TalkMenu />
      </div>
      <div class="hdr2">
        <nav class="tabs" aria-label="Board">
          {Object.entries(titles).map(([tab, title]) => (
            <a
              key={tab}
              href={hrefOf({ screen: 'board', board: here.board, tab: tab as BoardTab })}
              aria-current={here.tab === tab ? 'page' : undefined}
            >
              {title}
              {counts[tab as BoardTab] ? <span class="num"> {counts[tab as BoardTab]}</span> : null}
            </a>
          ))}
        </nav>
        <BriefLine room={room} />
      </div>
      <BriefBelow room={room} talk={here.tab === 'talk'} />
    </header>
  );
}
