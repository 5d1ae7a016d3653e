import { z } from 'zod';
import { booleanFlag, optional, stringFlag, writeFlags } from '../../cli/flags.ts';
import type { Output } from '../../cli/output.ts';
import { called } from '../../cli/runtime.ts';
import { type Session, staying, stayingAt } from '../../cli/session/open-session.ts';
import { savedSeat } from '../../cli/session/own-seats.ts';
import { requireSavable } from '../../cli/session/savable.ts';
import { agreedOnJoin, board, flag, member, object, seatUse, text } from '../../cli/shapes.ts';
import { showEnd, type TimeStyle } from '../../cli/terminal/time.ts';
import { escapeUntrusted } from '../../contract/text.ts';
import { Failure, usage } from '../../local/failure.ts';
import { findProject, type ProjectFile } from '../../local/project.ts';
import { saveSeat, useOf } from '../agent/lib/new-seat.ts';
import { createHere, type Delegated, type SeatedRecord } from '../board/lib/delegated.ts';
import { DelegatedCommand } from '../board/lib/delegated-command.ts';
import { linkIfUnlinked } from '../board/lib/link-folder.ts';
import { makeCode, type NewCode, rolesOf } from '../code/lib/join-codes.ts';
import { agreedOf, agreedText } from '../join/lib/join-summary.ts';

export const json = () =>
  object({
    board_record: board,
    linked: flag,
    agent: member,
    use: seatUse,
    join: z.strictObject({ code: text, line: text, role: text, expires_at: text }),
    ...agreedOnJoin,
  });

export default class Pair extends DelegatedCommand<typeof Pair> {
  static override summary = 'Let two agents of yours work together';
  static override description =
    'Creates a board from a template, gives the first agent its seat and prints one line. Paste that line into the second\nsession: service join brings it onto the same board. The folder is linked to the board unless it is linked already.';
  static override examples = ['service pair', 'service pair writer-reviewer --title "Retry design" --name claude'];
  static override seeAlso = ['join', 'code create', 'board templates'];
  static override args = { template: optional('Template of the board (default general)') };
  static override flags = {
    title: stringFlag('TEXT', 'What the board is about'),
    name: stringFlag('AGENT', 'Name of the first agent', { char: 'm' }),
    new: booleanFlag('Create a board although this folder is linked to one'),
    ...writeFlags,
  };

  override async run(): Promise<void> {
    const delegated = await this.delegated();
    const { record, url, again } = delegated
      ? await this.pairHere(delegated)
      : await this.pair(await this.session('D'));
    this.print<typeof json>(record, () => pairText(record, url, again, this.times), record.join.line);
  }

  private async pair(session: Session) {
    const { client, entry, project, server } = session;
    if (!entry) throw usage('With SERVICE_TOKEN nothing is saved here, so the token of the seat would be lost.');
    this.requireUnlinked(project);
    const { template, title } = this.newBoard;
    await requireSavable();
    const [first, second] = await rolesOf(client, template);
    const step = (name: string) => (this.key === undefined ? undefined : `${this.key}.${name}`);
    const created = await client.call('createBoard', { body: { template, title }, idempotencyKey: step('board') });
    const board = created.data;
    this.out.base.board = board.name;
    const { linked } = linkIfUnlinked(session, board.name);
    const { agent, code } = await people(session, board.name, this.out, async () => {
      const seat = { board: board.name, role: first, name: this.flags.name };
      const { data } = await client.call('joinBoard', { body: seat, idempotencyKey: step('seat') });
      await saveSeat(server, data, { out: this.out, key: step('seat') });
      const on = { ...session, board: board.name };
      const made = await makeCode(on, { role: second, ttl: undefined, key: step('code') });
      return { agent: data.agent, code: made.code };
    });
    const made = { use: useOf(agent), join: joinOf(code), ...agreedOf(board, agent) };
    const record = { board_record: board, linked, agent, ...made };
    return { record, url: server.url, again: this.again(created) };
  }

  /**
   * As `pair`, with the first seat for the session this runs in: the daemon makes board and seat, and the seat the code.
   * Nothing of it is done as the person.
   */
  private async pairHere(delegated: Delegated) {
    this.requireUnlinked(findProject());
    const { url } = delegated.server;
    const at = stayingAt({ choice: this.choice('D') });
    const seated = await createHere(delegated, {
      at,
      create: this.newBoard,
      pair: true,
      name: this.flags.name,
      key: this.key,
    });
    const { board_record: board, agent, use, charter, role_charter, mode } = seated;
    this.out.base.board = board.name;
    const code = await this.firstCode(url, seated).catch((error: unknown) => {
      this.out.note(`The board ${board.name} was created. Go on with: service code create --board ${board.name}${at}`);
      throw error;
    });
    const { linked } = linkIfUnlinked(delegated, board.name);
    const record = { board_record: board, linked, agent, use, join: joinOf(code), charter, role_charter, mode };
    return { record, url, again: '' };
  }

  private get newBoard() {
    return { template: this.args.template ?? 'general', title: this.flags.title };
  }

  /** @throws Failure `board_already_linked`. */
  private requireUnlinked(project: ProjectFile | null): void {
    if (!project || this.flags.new) return;
    const { board } = project;
    throw new Failure('board_already_linked', `This folder is linked to ${board}; nothing was created.`, {
      hint: `Bring another session there: service code create --board ${board}. A new board all the same: ${this.line()} --new`,
      details: { board },
    });
  }

  /** The code that brings the second one, made by the seat of the first. */
  private async firstCode(url: string, made: SeatedRecord): Promise<NewCode> {
    const { agent, board_record: board, pair_role: role } = made;
    const seat = savedSeat(url, agent.id);
    if (!seat) throw new Failure('agent_seat_elsewhere', `This machine has no token of ${agent.name}.`);
    const session = await this.session('G', { seat });
    return (await makeCode({ ...session, board: board.name }, { role, ttl: undefined, key: undefined })).code;
  }
}
type PairRecord = z.infer<ReturnType<typeof json>>;

/** What comes after the board was made says so when it fails: the board stays. */
async function people<T>(session: Session, board: string, out: Output, bring: () => Promise<T>): Promise<T> {
  try {
    return await bring();
  } catch (error) {
    out.note(
      `The board ${board} was created. Go on with: service agent create NAME --board ${board}${staying(session)}`,
    );
    throw error;
  }
}

const joinOf = ({ code, join_line: line, role, expires_at }: NewCode) => ({ code, line, role, expires_at });

const who = ({ agent, use }: PairRecord): string =>
  use.bound_session
    ? `This session is ${agent.name} (${agent.role}).`
    : `Your agent there is ${agent.name} (${agent.role}): --as ${use.as}.`;

/** What was made, the line for the second session alone on its line, and what the first has to know. @param at the server. */
function pairText(record: PairRecord, at: string, again: string, times: TimeStyle): string {
  const { board_record: board, join, linked } = record;
  const title = board.title === null ? '' : ` ("${escapeUntrusted(board.title)}")`;
  return [
    `Created board ${board.name}${title} on ${at}. ${who(record)}${again}`,
    ...(linked ? [`Linked this folder to ${board.name}.`] : []),
    `For the next session, ends ${showEnd(join.expires_at, times)}:`,
    `  ${join.line}`,
    called('It comes with: service join, and that line in quotes.'),
    ...agreedText(record),
  ].join('\n');
}
