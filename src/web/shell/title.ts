/** The window's title and icon, which show how many things need the person. */
import { effect } from '@preact/signals';
import { findBoard } from '../state/boards.ts';
import { needs } from '../state/needs.ts';
import { place } from '../state/route.ts';

const names: Record<string, string> = {
  boards: 'Boards',
  inbox: 'Needs you',
  search: 'Search',
  everything: 'Everything',
  agents: 'Your agents',
  server: 'Server',
  allowance: 'Allowance',
  join: 'Join',
};

const icon = (count: number): string => {
  const mark =
    count > 0
      ? `<circle cx="16" cy="16" r="6" fill="#FFD84A"/><text x="16" y="19" font-family="sans-serif" font-size="8" font-weight="700" text-anchor="middle" fill="#1A1B1D">${count > 9 ? '9+' : count}</text>`
      : '<rect x="6" y="14" width="4.5" height="2.6" rx=".6" fill="#FFD84A"/>';
  const text = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 22 22"><rect width="22" height="22" rx="6" fill="#1A1B1D"/><path d="M6 7h10M6 11h7" stroke="#FFF" stroke-width="1.8" stroke-linecap="round"/>${mark}</svg>`;
  return URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }));
};

/** Updates title and icon whenever the screen or the number changes. */
export function syncTitle(): void {
  let shown = 0;
  effect(() => {
    const { value } = place;
    const count = needs.value.length;
    const name =
      value.screen === 'board' ? (findBoard(value.board)?.title ?? value.board) : (names[value.screen] ?? '');
    document.title = `${count > 0 ? `(${count}) ` : ''}${name} · ${location.host}`;
    if (count === shown) return;
    shown = count;
    const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (!link) return;
    if (link.href.startsWith('blob:')) URL.revokeObjectURL(link.href);
    link.href = count > 0 ? icon(count) : '/icon.svg';
  });
}
