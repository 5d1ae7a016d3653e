/** The hook that waits while its session is idle, and wakes it. Its open connection tells the daemon that the session is idle. */
import { sleep } from '../client/time.ts';
import { replaceInvisible } from '../daemon/bundle/invisible.ts';
import { nextFrame } from '../daemon/control/ask.ts';
import { open } from '../daemon/control/client.ts';
import type { Connection } from '../daemon/control/connection.ts';
import type { Carry } from '../daemon/protocol.ts';
import { isGone } from '../local/process-ref.ts';
import type { Context } from './context.ts';
import { deliver } from './say.ts';

const MIN_RETRY_MS = 200;
const MAX_RETRY_MS = 5_000;
const PARENT_CHECK_INTERVAL_MS = 30_000;

/** Exit code 2 with a delivery on standard error, 0 when there is nothing more to wait for. */
export async function waitForDelivery(context: Context): Promise<0 | 2> {
  const orphaned = watchParent(context);
  let pause = MIN_RETRY_MS;
  for (let resumed = false; ; resumed = true) {
    const connection = await connectWait(context, resumed);
    if (connection) {
      pause = MIN_RETRY_MS;
      const outcome = await Promise.race([awaitDelivery(connection), orphaned]);
      connection.close();
      if (outcome !== 'again') return outcome;
    }
    const jittered = pause * (0.5 + Math.random() / 2);
    if ((await Promise.race([sleep(jittered), orphaned])) === 0) return 0;
    pause = Math.min(MAX_RETRY_MS, pause * 2);
  }
}

/** What the person has to change first. */
const lasting = ['socket_unsafe', 'credentials_unsafe', 'unsupported_platform'];

/** Null if the daemon does not answer now. A daemon that never answered and may not be started is not waited for. */
async function connectWait({ daemon, header }: Context, resumed: boolean): Promise<Connection | null> {
  try {
    return await open(daemon, 'wait', { ...header, resumed });
  } catch (error) {
    const { code } = error as { code?: string };
    const unavailable = !daemon.start && !resumed;
    if (unavailable || (code !== undefined && lasting.includes(code))) throw error;
    return null;
  }
}

/** Resolves with the outcome of the wait; `again` if the connection was lost or the daemon is replaced. */
async function awaitDelivery(connection: Connection): Promise<0 | 2 | 'again'> {
  for (;;) {
    const frame = await nextFrame(connection);
    if (frame === null) return 'again';
    if (frame.event === 'release') return 0;
    if (frame.event === 'bye') return frame.restart === true ? 'again' : 0;
    if (frame.event === 'deliver')
      return (await deliver(frame as Carry, connection, replaceInvisible, process.stderr)) ? 2 : 0;
  }
}

/** Resolves once the program that started this hook is gone. */
function watchParent({ process: harness }: Context): Promise<0> {
  const parent = process.ppid;
  return new Promise((resolve) => {
    setInterval(() => {
      if (process.ppid !== parent || (harness && isGone(harness))) resolve(0);
    }, PARENT_CHECK_INTERVAL_MS).unref();
  });
}
