/** The account menu: person, session, theme and sign-out. Loaded on demand. */
import { signal } from '@preact/signals';
import { call } from '../api/client.ts';
import { errorText } from '../api/errors.ts';
import { clearSession, session } from '../api/session.ts';
import { Icon } from '../parts/icon.tsx';
import { Menu } from '../parts/menu.tsx';
import { formatExact } from '../parts/time.tsx';
import { Glyph } from '../parts/who.tsx';
import { type Place, place } from '../state/route.ts';
import { readStorage, writeStorage } from '../state/storage.ts';

type Theme = 'system' | 'light' | 'dark';
const themes: Theme[] = ['system', 'light', 'dark'];
const isTheme = (text: string | null): text is Theme => themes.some((theme) => theme === text);
const storedTheme = readStorage('theme');

/** The theme chosen in this browser. */
const theme = signal<Theme>(isTheme(storedTheme) ? storedTheme : 'system');

export function setTheme(next: Theme): void {
  theme.value = next;
  writeStorage('theme', next === 'system' ? null : next);
  if (next === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = next;
}

/** The screens that only this menu of the bar at the bottom leads to. */
const ownScreens: Place['screen'][] = ['agents', 'allowance', 'server'];

const failure = signal<string | null>(null);

/** Ends the session of this browser. If it has ended already, `call` has shown the sign-in page. */
export async function signOut(): Promise<void> {
  failure.value = null;
  try {
    await call('endMyBrowserSession');
    sessionStorage.clear();
    clearSession();
  } catch (error) {
    if (session.peek()) failure.value = `Not signed out. ${errorText(error)}`;
  }
}

/** @param phone in the bar at the bottom, where it also leads to the screens for which the bar has no room */
export default function AccountMenu({ phone = false }: { phone?: boolean }) {
  const current = session.value;
  if (!current) return null;
  const { person, key, expires_at } = current;
  const who = { name: person.handle, kind: 'human' as const, owner: null };
  const button = phone ? (
    <>
      <Glyph who={who} size={20} />
      <span aria-current={ownScreens.includes(place.value.screen) ? 'page' : undefined}>You</span>
    </>
  ) : (
    <>
      <Glyph who={who} size={24} />
      <span class="sp cut">
        <span class="vh">Account of </span>
        {person.handle}
      </span>
      <Icon name="dots" />
    </>
  );
  return (
    <>
      {failure.value && <p role="alert">{failure.value}</p>}
      <Menu class={phone ? '' : 'rl account'} button={button} opensUp>
        <div class="menu-head">
          <b>{person.display_name ?? person.handle}</b>
          <span class="q2 sm">
            {person.server_role} of {location.host}
          </span>
          <span class="q2 sm">
            Signed in with key <b class="mono">{key.name}</b> until {formatExact(expires_at)}
          </span>
        </div>
        {themes.map((name) => (
          <button
            key={name}
            type="button"
            role="menuitemradio"
            aria-checked={theme.value === name}
            onClick={() => setTheme(name)}
          >
            {theme.value === name ? <Icon name="check" /> : <span class="i" />}
            {name === 'system' ? 'Theme of the system' : `${name === 'light' ? 'Light' : 'Dark'} theme`}
          </button>
        ))}
        {phone && (
          <a role="menuitem" href="/agents">
            <Icon name="term" />
            Your agents
          </a>
        )}
        {person.server_role !== 'guest' && (
          <a role="menuitem" href="/settings/allowance">
            <Icon name="shield" />
            Your allowance
          </a>
        )}
        <a role="menuitem" href="/server">
          <Icon name="people" />
          Server and settings
        </a>
        <button type="button" role="menuitem" onClick={() => void signOut()}>
          <Icon name="x" />
          Sign out
        </button>
      </Menu>
    </>
  );
}
