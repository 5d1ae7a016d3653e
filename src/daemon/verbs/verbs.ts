/** One row per verb: how a frame is answered. */
import type { Peer } from '../control/peer.ts';
import type { Answers, FirstFrame, Openings, Requests } from '../protocol.ts';
import { door, hello, wait } from './connections.ts';
import type { Context } from './context.ts';
import { boards, createBoard, join, pairing } from './machine.ts';
import { hold, inbox, queued, shown } from './reading.ts';
import { agents, approvalWatch, bind, mode, register, unbind } from './sessions.ts';
import { boundary, needsPerson, prompt, turnEnd, turnStart } from './turns.ts';

type Frames = Requests & Openings;
/** The answer of a verb; a verb that sends its answer itself returns nothing. */
type Answer<Name extends keyof Frames> = Name extends keyof Answers ? Answers[Name] | undefined : undefined;
// biome-ignore lint/suspicious/noConfusingVoidType: a verb that sends its answer itself returns nothing
type Answered<Name extends keyof Frames> = Answer<Name> | void;
type Verb<Name extends keyof Frames> = (
  context: Context,
  frame: Frames[Name],
  peer: Peer,
) => Answered<Name> | Promise<Answered<Name>>;
type Verbs = { [Name in keyof Frames]?: Verb<Name> };

/** Verbs about the daemon itself. */
export type DaemonVerbs = Pick<Verbs, 'status' | 'shutdown'>;

const sessionVerbs: Verbs = {
  register,
  prompt,
  turn_start: turnStart,
  boundary,
  turn_end: turnEnd,
  needs_person(context, frame) {
    const session = context.sessions.forEvent(frame);
    if (session) needsPerson(context, session, frame);
    return {};
  },
  plan(context, frame) {
    const session = context.sessions.forEvent(frame);
    if (session) context.reports.plan(session.view, frame.plan);
    return {};
  },
  end(context, frame) {
    const session = context.sessions.forEvent(frame);
    if (session) context.sessions.close(session, 'end');
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

/** Answers one frame. Errors are thrown: the control server turns them into error frames. */
export async function answerFrame(context: Context, more: DaemonVerbs, frame: FirstFrame, peer: Peer): Promise<void> {
  const verb = ({ ...sessionVerbs, ...more } as Record<string, Verb<never> | undefined>)[frame.op];
  const answer = await verb?.(context, frame as never, peer);
  if (answer) peer.send(answer);
}
