/** The entry point: takes a sign-in code out of the address, loads the session and renders. */
import './style/index.css';
import { render } from 'preact';
import { readSession } from './api/client.ts';
import { App } from './app.tsx';
import { startLink } from './live/link.ts';
import { syncTitle } from './shell/title.ts';
import { takeCode } from './sign-in/linked-code.ts';
import { keepFocus } from './state/focus.ts';
import { listenToKeys } from './state/keys.ts';
import { startRouting } from './state/route.ts';

takeCode();
addEventListener('hashchange', takeCode);
startRouting();
listenToKeys();
startLink();
syncTitle();
keepFocus();
render(<App />, document.getElementById('root')!);
void readSession();
