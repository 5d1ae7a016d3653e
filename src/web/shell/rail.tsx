/**
 * The navigation: a rail at the left, or a bar at the bottom on a phone.
 */
import { Suspense } from 'preact/compat';
import { Icon, Mark } from '../parts/icon.tsx';
import { lazy } from '../parts/lazy.ts';
import { formatNumber } from '../parts/number.ts';
import { boards } from '../state/boards.ts';
import { needs, needsOnBoard } from '../state/needs.ts';
import { hrefOf, type Place, place } from '../state/route.ts';

const AccountMenu = lazy(() => import('./account.tsx'));

const currentIf = (...screens: Place['screen'][]): 'page' | undefined =>
  screens.includes(place.value.screen) ? 'page' : undefined;

const NeedsCount = () => (needs.value.length > 0 ? <span class="you">{needs.value.length}</span> : null);

export function Rail() {
  const here = place.value.screen === 'board' ? place.value.board : null;
  const own = (boards.value ?? []).filter((board) => board.on_board);
  return (
    <nav class="rail" aria-label="Boards and more">
      <a class="srv" href="/">
        <Mark />
        <span class="cut">{location.host}</span>
      </a>
      <a class="rl" href="/inbox" aria-current={currentIf('inbox')}>
        <Icon name="inbox" />
        <span class="sp">Needs you</span>
        <NeedsCount />
      </a>
      <a class="rl" href="/search" aria-current={currentIf('search')}>
        <Icon name="search" />
        <span class="sp">Search</span>
        <kbd>/</kbd>
      </a>
      <a class="rl" href="/everything" aria-current={currentIf('everything')}>
        <Icon name="eyes" />
        <span class="sp">Everything</span>
      </a>
      <a class="rl" href="/agents" aria-current={currentIf('agents')}>
        <Icon name="term" />
        <span class="sp">Your agents</span>
      </a>
      <a class="rl" href="/" aria-current={currentIf('boards')}>
        <Icon name="menu" />
        <span class="sp">All boards</span>
      </a>
      {own.length > 0 && <h3 id="rail-boards">Boards</h3>}
      <ul aria-labelledby="rail-boards">
        {own.map(({ name, visibility, unread = 0 }) => (
          <li key={name}>
            <a
              class={unread > 0 ? 'rl un' : 'rl'}
              href={hrefOf({ screen: 'board', board: name, tab: 'talk' })}
              aria-current={name === here ? 'page' : undefined}
            >
              <Icon name={visibility === 'private' ? 'lock' : 'board'} />
              <span class="sp cut">{name}</span>
              {needsOnBoard(name).length > 0 && (
                <span class="dot">
                  <span class="vh">needs you</span>
                </span>
              )}
              {unread > 0 && (
                <span class="num">
                  {formatNumber(unread)}
                  <span class="vh"> unread</span>
                </span>
              )}
            </a>
          </li>
        ))}
      </ul>
      <span class="sp" />
      <Suspense fallback={<div class="rl account" />}>
        <AccountMenu />
      </Suspense>
    </nav>
  );
}

/** The phone's navigation, hidden on boards. */
export const BottomBar = () => (
  <nav class="bot" aria-label="Main">
    <a href="/inbox" aria-current={currentIf('inbox')}>
      <Icon name="inbox" />
      Needs you
      <NeedsCount />
    </a>
    <a href="/" aria-current={currentIf('boards')}>
      <Icon name="board" />
      Boards
    </a>
    <a href="/everything" aria-current={currentIf('everything')}>
      <Icon name="eyes" />
      Everything
    </a>
    <a href="/search" aria-current={currentIf('search')}>
      <Icon name="search" />
      Search
    </a>
    <Suspense fallback={<div class="menu" />}>
      <AccountMenu phone />
    </Suspense>
  </nav>
);
