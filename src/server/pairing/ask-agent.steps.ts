/** The message by which a person asks their agent to accept. */
import { readerOf } from '../access/board-access.ts';
import { type BoardRow, parsePolicy } from '../boards/boards.store.ts';
import type { WriteTx } from '../db/tx.ts';
import { memberById } from '../members/members.store.ts';
import { activeHuman } from '../members/memberships.store.ts';
import { noRun } from '../messages/agent-run.rules.ts';
import { writePost } from '../messages/posting.steps.ts';
import type { Caller } from '../operation/caller.ts';
import { personById } from '../people/people.store.ts';
import { redact } from '../text/redaction.ts';
import { pairingStep } from './next.rules.ts';
import { pairingNotFound } from './refusals.rules.ts';
import type { SubjectRow } from './requests.store.ts';

/**
 * Posts as the person, to this agent alone; answers the message. The work is quoted, and names in it wake nobody: it is content
 * of somebody else's.
 */
export async function askAgent(
  tx: WriteTx,
  caller: Caller,
  { row, board, agentId, baseUrl }: { row: SubjectRow; board: BoardRow; agentId: string; baseUrl: string },
): Promise<string> {
  const member = await activeHuman(tx, board.id, caller.person.person_id);
  const agent = await memberById(tx, agentId);
  const inviter = await personById(tx, row.inviter_id);
  if (!member || !agent) throw pairingNotFound();
  const policy = parsePolicy(board);
  const next = { id: row.id, state: 'awaiting_session', awaiting: 'recipient', reader: 'recipient' } as const;
  const step = pairingStep(next, baseUrl);
  const { row: message } = await writePost(
    tx,
    caller,
    { board, member, policy, reader: readerOf(member, policy) },
    {
      post: {
        redacted: redact(textOf(row.work, inviter?.handle ?? '', step?.command ?? '')),
        sent: { expects_reply: true },
      },
      parent: null,
      run: noRun,
      addressing: { to: [`@${agent.name}`], everyone: false, recipients: [agent], named: [agent.id] },
      mentions: [],
      about: [],
      files: [],
      asking: null,
      answering: null,
    },
  );
  return message.id;
}

const textOf = (work: string, inviter: string, command: string): string =>
  [
    `${inviter} proposes work together. To take part in it with this session, run:`,
    '',
    `    ${command}`,
    '',
    'The work, as it was proposed:',
    '',
    ...work.split(/\r\n|[\n\v\f\r\x85\u2028\u2029]/).map((line) => `> ${line}`),
  ].join('\n');
