import { z } from 'zod';
import { lost } from '../../cli/errors.ts';
import { booleanFlag, listFlag, requestFlags, secretFlags, stringFlag } from '../../cli/flags.ts';
import { type Session, stayingAt } from '../../cli/session/open-session.ts';
import { sessionSeats } from '../../cli/session/own-seats.ts';
import { answer, object, requestedApproval } from '../../cli/shapes.ts';
import { duration } from '../../cli/terminal/time.ts';
import type { Client } from '../../client/client.ts';
import type { BodyIn } from '../../contract/types.ts';
import { Failure, usage } from '../../local/failure.ts';
import { AskingCommand } from '../approval/lib/ask-person.ts';
import { beginner, newInviteText, warnOfLoopback } from './lib/invite.ts';

export const json = () => z.union([object({ invite: answer('createInvite') }), requestedApproval]);

export default class InviteCreate extends AskingCommand<typeof InviteCreate> {
  static override summary = 'Invite one person to a server';
  static override description =
    'Prints a link that works once: the person who opens it with "service connect" becomes a member, on the boards you name. It\nis shown this one time only. --pairing says what their agent is to work on with one of yours on the board.\nOnly server admins invite. An agent asks its person for the invite, which then lives a day at most.';
  static override examples = [
    'service invite create',
    'service invite create --board payments --handle maya --ttl 2d',
    'service invite create --board payments --pairing "Review the API" --agent claude',
  ];
  static override seeAlso = ['invite list', 'invite revoke', 'connect'];
  static override flags = {
    ...secretFlags,
    board: listFlag({ char: 'b', helpValue: 'NAME', description: 'Board the newcomer comes onto; may be repeated' }),
    pairing: stringFlag('WORK', 'What to work on together; needs exactly one board'),
    agent: stringFlag('NAME', 'Your agent the work begins from'),
    handle: stringFlag('NAME', 'Handle to suggest'),
    ttl: stringFlag('DURATION', 'How long it works, 1m to 30d (default 7d; for an agent at most 24h)'),
    ...requestFlags,
    person: booleanFlag('Accepted without effect', { hidden: true }),
  };

  override async run(): Promise<void> {
    // Several boards may be named here, and none of them is the one the command works on, but one may say which seat asks.
    this.globals = { ...this.globals, board: await boardOfSeat(this.flags.board) };
    const session = await this.session(this.flags.request ? 'G' : 'A').catch(sayWhoAsks);
    const { body, names } = await this.body(session);
    if (session.agent) return this.request(session, { kind: 'invite_people', invite: body });
    const stay = stayingAt(session);
    const { data: invite } = await session.client
      .call('createInvite', { body, idempotencyKey: this.key })
      .catch(
        lost(`See whether it is there: service invite list${stay}. Revoke it with: service invite revoke ID${stay}`),
      );
    warnOfLoopback(this.out, invite.invite);
    const text = () => newInviteText(invite, names, { times: this.times, stay });
    this.print<typeof json>({ invite }, text, invite.invite);
  }

  /** The body of the call, and the names of the boards it leads onto. */
  private async body(session: Session): Promise<{ body: BodyIn<'createInvite'>; names: string[] }> {
    const { board: named = [], pairing: work, agent, handle, ttl } = this.flags;
    const boards: { id: string; name: string }[] = [];
    for (const board of named) boards.push(await boardNamed(session.client, board));
    const [first, another] = boards;
    if (work !== undefined && (!first || another))
      throw usage('Work together begins on exactly one board.', 'Name one with --board');
    const body = {
      ...(ttl === undefined ? {} : { ttl_seconds: duration(ttl, '--ttl') }),
      ...(boards.length === 0 ? {} : { boards: boards.map(({ id }) => id) }),
      ...(work === undefined || !first
        ? {}
        : { pairing: { initiating_agent_id: await beginner(session, first.name, agent), work } }),
      ...(handle === undefined ? {} : { suggested_handle: handle }),
    };
    return { body, names: boards.map(({ name }) => name) };
  }
}

/** In a session with several seats: the board that alone has a seat of the session among those named. */
async function boardOfSeat(named: readonly string[] = []): Promise<string | undefined> {
  const seats = (await sessionSeats()).map(({ saved }) => saved);
  const boards = seats.filter(({ board, board_id: id }) => named.includes(board) || named.includes(id));
  const [board, ...others] = new Set(boards.map((seat) => seat.board));
  return seats.length > 1 && others.length === 0 ? board : undefined;
}

/** --board names the newcomer's boards, so a seat is named by itself. */
function sayWhoAsks(error: unknown): never {
  if (!(error instanceof Failure) || error.code !== 'board_ambiguous') throw error;
  const { seats: [seat] = [] } = error.details as { seats?: string[] };
  throw new Failure(error.code, error.message, { hint: `Say which one: --as ${seat}`, details: error.details });
}

async function boardNamed(client: Client, board: string): Promise<{ id: string; name: string }> {
  if (/^brd_[0-9A-HJKMNP-TV-Z]{26}$/.test(board)) return { id: board, name: board };
  const { data } = await client.call('getBoard', { params: { board } });
  return { id: data.id, name: data.name };
}
