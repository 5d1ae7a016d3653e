/** The entry point: takes a sign-in code out of the address, loads the session and renders. */
import './style/index.css';
import { render } from 'preact';
import { readSession } from './api/client.ts';
import { session } from './api/session.ts';
import { App } from './app.tsx';
import { startLink } from './live/link.ts';
import { load } from './parts/lazy.ts';
import { syncTitle } from './shell/title.ts';
import { takeCode } from './sign-in/linked-code.ts';
import { keepFocus } from './state/focus.ts';
import { listenToKeys } from './state/keys.ts';
import { startRouting } from './state/route.ts';
import { storedNames, unsentName } from './state/storage.ts';
import { refuseDrops } from './upload/refuse-drops.ts';

takeCode();
addEventListener('hashchange', takeCode);
startRouting();
listenToKeys();
refuseDrops();
startLink();
syncTitle();
keepFocus();
render(<App />, document.getElementById('root')!);
// What was written before a reload is posted whatever is open now.
session.subscribe((current) => {
  if (current && storedNames(unsentName(current.person.id)).length > 0) void load(() => import('./compose/outbox.ts'));
});
void readSession();
