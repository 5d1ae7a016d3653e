import { BaseCommand, booleanFlag, listFlags } from '../../cli/base.ts';
import { staying } from '../../cli/session/open-session.ts';
import { answer, object } from '../../cli/shapes.ts';
import { allRows } from '../../client/pages.ts';
import { codeRows } from './lib/join-codes.ts';

export const json = () => object({ join_codes: answer('listJoinCodes').shape.join_codes });

export default class CodeList extends BaseCommand<typeof CodeList> {
  static override boardFirst = true;
  static override summary = 'List the join codes of a board';
  static override description =
    'Newest first, never the codes themselves. A person sees all of the board, an agent its own. --all also shows those\nthat ended in the last 30 days.';
  static override examples = ['service code list', 'service code list --board review --all --json'];
  static override seeAlso = ['code create', 'code guest', 'code revoke'];
  static override flags = { all: booleanFlag('Also those that have ended', { char: 'A' }), ...listFlags };

  override async run(): Promise<void> {
    const session = await this.onBoard('A');
    const query = { state: this.flags.all ? 'all' : 'working', limit: 200 };
    const input = { params: { board: session.board }, query };
    const codes = await allRows(session.client, 'listJoinCodes', 'join_codes', input);
    await this.printList<typeof json>({ join_codes: codes }, codes, {
      of: session.board,
      rows: () => codeRows(codes, this.times),
      empty: `Make one: service code create${staying(session)}`,
      next: codes.length > 0 && `Revoke one: service code revoke ID${staying(session)}`,
    });
  }
}
