/** What was handed to this session and waits in its program's own queue until the turn ends. */

import type { Output } from '../../../cli/output.ts';
import { plural } from '../../../cli/print/fields.ts';
import { askFor } from '../../../cli/session/ask-daemon.ts';
import { sessionHere } from '../../../cli/session/here.ts';
import type { Answers } from '../../../daemon/control/answers.ts';
import { Failure } from '../../../local/failure.ts';

type Queued = NonNullable<Answers['queued']['queued']>;

/** Asks the daemon; acknowledges nothing. @throws Failure `session_unknown` outside the session of an agent's program. */
export async function showQueued(out: Output): Promise<void> {
  const session = sessionHere();
  if (!session)
    throw new Failure('session_unknown', 'Only the session of an agent has a queue, and this is none.', {
      hint: 'Run it in that session: service inbox --queued',
    });
  const { queued = [] } = await askFor(session, 'queued', {}, { start: false });
  out.print({ queued }, () => queuedText(queued));
}

const queuedText = (queued: Queued): string =>
  [
    `${plural(queued.length, 'message waits', 'messages wait')} for the end of the turn.`,
    ...queued.map(({ board, board_id, seq }) => `  ${board ?? board_id} #${seq}`),
  ].join('\n');
