/** One row per verb: how a frame is answered. */
import type { Peer } from '../control/peer.ts';
import type { Answers, FirstFrame, Openings, Requests } from '../protocol.ts';
import { door, hello, wait } from './connections.ts';
import type { Context } from './context.ts';
import { boards, createBoard, join, pairing } from './machine.ts';
import { hold, inbox, queued, shown } from './reading.ts';
import { agents, approvalWatch, bind, mode, register, unbind } from './sessions.ts';
import { boundary, needsPerson, prompt, turnEnd, turnStart } from './turns.ts';

type All = Requests & Openings;
/** What a verb is answered with; one that sends its answer itself returns nothing. */
type Answer<Name extends keyof All> = Name extends keyof Answers ? Answers[Name] | undefined : undefined;
// biome-ignore lint/suspicious/noConfusingVoidType: a verb that answers itself returns nothing at all
type Answered<Name extends keyof All> = Answer<Name> | void;
type Verb<Name extends keyof All> = (
  context: Context,
  frame: All[Name],
  peer: Peer,
) => Answered<Name> | Promise<Answered<Name>>;
type Verbs = { [Name in keyof All]?: Verb<Name> };

/** Verbs about the daemon itself: what describes it and what stops it. */
export type MoreVerbs = Pick<Verbs, 'status' | 'shutdown'>;

const own: Verbs = {
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
export async function answerFrame(context: Context, more: MoreVerbs, frame: FirstFrame, peer: Peer): Promise<void> {
  const verb = ({ ...own, ...more } as Record<string, Verb<never> | undefined>)[frame.op];
  const answer = await verb?.(context, frame as never, peer);
  if (answer) peer.send(answer);
}
