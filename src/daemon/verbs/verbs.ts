/** One row per verb: how a frame is answered. */

import type { Peer } from '../control/peer.ts';
import type { Core } from '../core.ts';
import type { FirstFrame, Openings, Requests } from '../protocol.ts';
import { door, hello, wait } from './connections.ts';
import { boards, createBoard, join, pairing } from './machine.ts';
import { hold, inbox, queued, shown } from './reading.ts';
import { agents, approvalWatch, bind, mode, register, unbind } from './sessions.ts';
import { boundary, needsPerson, prompt, turnEnd, turnStart } from './turns.ts';

type All = Requests & Openings;
// biome-ignore lint/suspicious/noConfusingVoidType: a verb that answers itself returns nothing at all
type Answer = object | void;
/** Answers with what it returns; those that answer themselves return nothing. */
type Verb<Name extends keyof All> = (core: Core, frame: All[Name], peer: Peer) => Answer | Promise<Answer>;
type Verbs = { [Name in keyof All]?: Verb<Name> };

/** Verbs of other parts: what stops the daemon, what describes it, and what pairs sessions. */
export type MoreVerbs = Pick<Verbs, 'status' | 'shutdown' | 'pairing'>;

const own: Verbs = {
  register,
  prompt,
  turn_start: turnStart,
  boundary,
  turn_end: turnEnd,
  needs_person(core, frame) {
    const session = core.sessions.forEvent(frame);
    if (session) needsPerson(core, session, frame);
    return {};
  },
  plan(core, frame) {
    const session = core.sessions.forEvent(frame);
    if (session) core.reports.plan(session.view, frame.plan);
    return {};
  },
  end(core, frame) {
    const session = core.sessions.forEvent(frame);
    if (session) core.sessions.close(session, 'end');
    return {};
  },
  bind,
  unbind,
  agents,
  boards,
  join,
  create_board: createBoard,
  pairing,
  mode,
  queued,
  shown,
  approval_watch: approvalWatch,
  wait,
  door,
  inbox,
  hold,
  hello,
};

/** Answers one frame. @throws ControlRefusal and whatever broke, for the server to tell. */
export async function answerFrame(core: Core, more: MoreVerbs, frame: FirstFrame, peer: Peer): Promise<void> {
  const verb = ({ ...own, ...more } as Record<string, Verb<never> | undefined>)[frame.op];
  const answer = await verb?.(core, frame as never, peer);
  if (answer) peer.send(answer);
}
