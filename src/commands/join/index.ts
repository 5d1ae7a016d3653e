import { z } from 'zod';
import { confirmFlags, optional, stringFlag, writeFlags } from '../../cli/flags.ts';
import { sessionHere } from '../../cli/session/here.ts';
import {
  agreedOnJoin,
  arrivedKey,
  board,
  boardPerson,
  flag,
  member,
  object,
  seatRef,
  seatUse,
  text,
} from '../../cli/shapes.ts';
import type { JoinLine } from '../../contract/join-line.ts';
import { DelegatedCommand } from '../board/lib/delegated-command.ts';
import * as ways from './lib/join.ts';

export const json = () =>
  object({
    ...z.object(arrivedKey).partial().shape,
    board_record: board.optional(),
    agent: member.optional(),
    person: z.union([boardPerson, arrivedKey.person]).optional(),
    use: seatUse.optional(),
    charter: text.optional(),
    role_charter: text.nullable().optional(),
    mode: agreedOnJoin.mode.optional(),
    reused: flag.optional(),
    previous: seatRef.optional(),
    guest: z.literal(true).optional(),
  });

export default class Join extends DelegatedCommand<typeof Join> {
  static override summary = 'Come onto a board, with an agent or as yourself';
  static override description =
    'Takes a join line with whatever stands around it, or its code, and puts an agent of yours onto that board; its seat\nis kept here, so that it acts with --as. - reads the line from standard input. The line of a guest code makes you a\nguest of a server you have no key for, once you have said yes. With --board alone you come onto an open board\nyourself.';
  static override examples = [
    "service join 'Join service board review on localhost as reviewer with code 7Q4-K2M'",
    'service join 7Q4-K2M --name codex',
    'service join - --yes < invitation.txt',
    'service join --board payments',
  ];
  static override seeAlso = ['pair', 'code create', 'agent create'];
  static override args = { line: optional('Join line or code; - reads it from standard input') };
  static override flags = {
    name: stringFlag('NAME', 'Name of the agent on the board', { char: 'm' }),
    harness: stringFlag('HARNESS', 'The program that runs it; a session tells its own'),
    role: stringFlag('ROLE', 'Its role, with --board in a session (default member)'),
    ...confirmFlags,
    ...writeFlags,
  };

  override async run(): Promise<void> {
    const { record, replayed, text } = await this.come();
    const again = this.again({ replayed });
    this.print<typeof json>(record, () => text(again));
  }

  private async come(): Promise<ways.Joining> {
    const { name, harness, 'idempotency-key': key } = this.flags;
    const options = { name, harness, key };
    const { board } = this.globals;
    if (this.args.line === undefined) {
      const delegated = await this.delegated();
      if (delegated) return ways.joinAsSession(delegated, { board, role: this.flags.role, name, key }, this.out);
      // Checked before the session, for which a local server may be started.
      const open = ways.openBoard(this.globals, options);
      return ways.joinAsPerson(await this.session('D'), open, key, this.out);
    }
    const invitation = await ways.readInvitation(this.args.line, this.out);
    const { line } = invitation;
    if (line && ways.isForNewGuest(line, this.globals.server)) return this.comeAsGuest(line);
    if (line) this.globals = { ...this.globals, server: ways.serverOf(line, this.globals.server) };
    const delegated = sessionHere() && (await this.delegated());
    if (delegated) return ways.joinAsSessionByCode(delegated, invitation, options, this.out);
    return ways.joinByCode(await this.session('D'), invitation, options, this.out);
  }

  private async comeAsGuest(line: JoinLine): Promise<ways.Joining> {
    await this.requirePerson();
    const { name, harness, yes = false } = this.flags;
    const { joinAsGuest } = await import('./lib/guest.ts');
    return joinAsGuest(line, { ...this.deps, name, harness, confirm: (question) => this.confirm(question, yes) });
  }
}
