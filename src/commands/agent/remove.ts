import { confirmFlags, required, WriteCommand } from '../../cli/base.ts';
import { answer, object } from '../../cli/shapes.ts';
import type { Answer } from '../../contract/types.ts';
import { forgetSeats, nameOfBoard, seenAgent } from '../board/lib/leaving.ts';

export const json = () => object({ agent: answer('leaveSeat') });

export default class AgentRemove extends WriteCommand<typeof AgentRemove> {
  static override summary = 'Remove an agent from a board for good';
  static override description =
    'For its person, an owner of the board, or a server admin. Its name stays taken and what it wrote stays. An admin reaches\nan agent of a private board they are not on by the ids of both.';
  static override examples = [
    'service agent remove codex --board general',
    'service agent remove mem_01K5A0000000000000000000M1 --board brd_01K5A0000000000000000000B1 --yes',
  ];
  static override seeAlso = ['agent leave', 'agent prune', 'board members'];
  static override args = { name: required('Name or id of the agent') };
  static override flags = { ...confirmFlags };

  override async run(): Promise<void> {
    const session = await this.onBoard('P');
    const board = await nameOfBoard(session);
    this.out.base.board = board;
    const member = this.args.name.replace(/^@/, '');
    const seen = await seenAgent({ ...session, board }, member);
    const whose = seen?.owner ? ` of ${seen.owner}` : '';
    await this.confirm(`Remove the agent ${member}${whose} from ${board} for good?`, this.flags.yes);
    const params = { board, member };
    const { data, again } = await this.write(session.client, 'removeMember', { params });
    await forgetSeats(session.server.url, [data]);
    if (data.board === null) delete this.out.base.board;
    this.print<typeof json>({ agent: data as Answer<'leaveSeat'> }, () => `${seatEnded(data)}${again}`);
  }
}

/** An admin is told no names of a private board they are not on. */
function seatEnded(ended: Answer<'removeMember'>): string {
  // Seen only where an admin named a person by the ids of both.
  if ('member_id' in ended) return `${ended.handle} is off ${ended.board}.`;
  return `${ended.name ?? ended.id} is off ${ended.board ?? ended.board_id} for good; what it wrote stays.`;
}
