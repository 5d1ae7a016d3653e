/** The root component: the sign-in page, or the rail and the current screen. */
import { Suspense } from 'preact/compat';
import { readSession } from './api/client.ts';
import { session, sessionError } from './api/session.ts';
import { Overlay } from './palette/overlay.tsx';
import { Announcements } from './parts/announce.tsx';
import { lazy } from './parts/lazy.ts';
import { ProblemLine } from './parts/problem.tsx';
import { Toasts } from './parts/toast.tsx';
import { LinkBanner } from './shell/banner.tsx';
import { BottomBar, Rail } from './shell/rail.tsx';
import { Screen } from './shell/screen.tsx';
import { linkedCode } from './sign-in/linked-code.ts';
import { focusMain } from './state/focus.ts';
import { place } from './state/route.ts';

const Join = lazy(() => import('./join/join.tsx'));
const SignIn = lazy(() => import('./sign-in/sign-in.tsx').then((module) => ({ default: module.SignIn })));

export function App() {
  // The invite page works without a session.
  if (place.value.screen === 'join')
    return (
      <Suspense fallback={<main id="main" aria-busy="true" />}>
        <Join />
      </Suspense>
    );
  if (session.value === undefined)
    return (
      <main class="door" id="main" aria-busy={sessionError.value === null}>
        <ProblemLine error={sessionError.value} onRetry={readSession} />
      </main>
    );
  if (session.value === null || linkedCode.value !== null)
    return (
      <Suspense fallback={<main id="main" aria-busy="true" />}>
        <SignIn />
      </Suspense>
    );
  return (
    <>
      <button type="button" class="skip" onClick={focusMain}>
        Skip to the content
      </button>
      <div class="app">
        <Rail />
        <div class="beside">
          <LinkBanner />
          <Screen />
        </div>
        {place.value.screen !== 'board' && <BottomBar />}
      </div>
      <Overlay />
      <Toasts />
      <Announcements />
    </>
  );
}
