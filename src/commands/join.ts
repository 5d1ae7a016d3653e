import * as Flags from '@oclif/core/flags';
import { optional } from '../cli/args.ts';
import { BaseCommand } from '../cli/base.ts';
import { writeFlags } from '../cli/flags.ts';
import { type Joining, joinAsPerson, joinByCode, readInvitation, requireServerOf, serverOf } from '../cli/joining.ts';
import { joinedText } from '../cli/print/joined.ts';
import { usage } from '../local/failure.ts';

export default class Join extends BaseCommand<typeof Join> {
  static override summary = 'Come onto a board, with an agent or as yourself';
  static override description =
    'Takes a join line with whatever stands around it, or its code, and puts an agent of yours onto that board; its seat\nis kept here, so that it acts with --as. - reads the line from standard input. With --board alone you come onto an\nopen board yourself.';
  static override examples = [
    "service join 'Join service board review on localhost as reviewer with code 7Q4-K2M'",
    'service join 7Q4-K2M --name codex',
    'service join - < invitation.txt',
    'service join --board payments',
  ];
  static override seeAlso = ['pair', 'code create', 'agent create'];
  static override args = { line: optional('Join line or code; - reads it from standard input') };
  static override flags = {
    name: Flags.string({ char: 'm', helpValue: 'NAME', description: 'Name of the agent on the board' }),
    harness: Flags.string({ helpValue: 'HARNESS', description: 'The program that runs it' }),
    ...writeFlags,
  };

  override async run(): Promise<void> {
    const { record, replayed, at } = await (this.args.line === undefined ? this.comeAlone() : this.bringAgent());
    const again = this.again({ replayed });
    this.out.print(record, () => joinedText(record, at, again));
  }

  private async comeAlone(): Promise<Joining> {
    const { name, harness, 'idempotency-key': key } = this.flags;
    const { board } = this.globals;
    if (board === undefined) throw usage('What to join is missing.', "service join 'Join service board …'");
    if (name !== undefined || harness !== undefined)
      throw usage(
        'Without a join line you come yourself.',
        `An agent gets a seat with: service agent create NAME --board ${board}`,
      );
    return joinAsPerson(await this.session('D'), board, key, this.out);
  }

  private async bringAgent(): Promise<Joining> {
    const { name, harness, 'idempotency-key': key } = this.flags;
    const { line, code } = await readInvitation(this.args.line ?? '', this.out);
    if (line) this.globals = { ...this.globals, server: serverOf(line, this.globals.server) };
    const session = await this.session('D');
    if (line) requireServerOf(session, line);
    return joinByCode(session, code, { name, harness, key }, this.out);
  }
}
