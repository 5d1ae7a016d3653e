/** The commands that a person or agent runs next. Guidance, never permission; no secret is ever in one. */
import type { NextStep } from '../../contract/errors.ts';
import { shellArgument } from '../../contract/text.ts';
import { listStep } from '../pairing/next.rules.ts';

const on = (baseUrl: string): string => `--server ${shellArgument(baseUrl, null)}`;

/** For the person whose agent asked. */
export const allowStep = (approvalId: string, baseUrl: string): NextStep => ({
  command: `service approvals allow ${approvalId} ${on(baseUrl)}`,
  resume: 'Your person runs it in their own terminal, or decides on the page; this session is then told.',
  board_view: `${baseUrl}/inbox/approvals/${approvalId}`,
});

/** For the person in a browser, where only their own key allows it. */
export const ownKeyStep = (approvalId: string, baseUrl: string): NextStep => ({
  ...allowStep(approvalId, baseUrl),
  resume: "This needs the person's own access key: run it in a terminal of a signed-in machine.",
});

/** When an invite's secret cannot be shown again. */
export const revokeStep = (inviteId: string, baseUrl: string): NextStep => ({
  command: `service invite revoke ${inviteId} ${on(baseUrl)}`,
  resume: 'The link is shown only once. If it was lost, your person revokes it, and you ask for a new invite.',
  board_view: `${baseUrl}/inbox/invites/${inviteId}`,
});

/** For the person whose agent made an invite that still brings somebody. */
export const takeBackStep = (inviteId: string, baseUrl: string): NextStep => ({
  ...revokeStep(inviteId, baseUrl),
  resume: 'Run it in your own terminal if nobody should come by this invite.',
});

/** What the agent runs once its request is decided. */
const showStep = (approvalId: string, baseUrl: string): NextStep => ({
  command: `service approvals show ${approvalId} ${on(baseUrl)}`,
  resume: 'Run it in this session: it shows the decision, and an invite that waits for you once.',
  board_view: `${baseUrl}/inbox/approvals/${approvalId}`,
});

interface Named {
  approval_id?: string;
  pairing_request_id?: string;
  person?: { handle: string };
  board?: string;
  task?: { ref: string };
}

/** What goes with a notice: a decision or a task to look at, a board with somebody new on it, or a person. */
export function noticeStep({ approval_id, pairing_request_id, person, board, task }: Named, baseUrl: string): NextStep {
  if (approval_id !== undefined) return showStep(approval_id, baseUrl);
  if (pairing_request_id !== undefined) return listStep(baseUrl);
  if (task !== undefined && board !== undefined) {
    return {
      command: `service task show ${task.ref} --board ${shellArgument(board)} ${on(baseUrl)}`,
      resume: 'It shows who has the task now and where it stands.',
    };
  }
  if (board !== undefined) {
    return {
      command: `service members --board ${shellArgument(board)} ${on(baseUrl)}`,
      resume: 'It shows who is on the board now.',
    };
  }
  return {
    command: `service people show ${shellArgument(person?.handle ?? 'me')} ${on(baseUrl)}`,
    resume: 'It shows who came.',
  };
}

/** For an invite that nothing can be done about any more. */
export const inviteStep = (inviteId: string, baseUrl: string): NextStep => ({
  command: `service invite show ${inviteId} ${on(baseUrl)}`,
  resume: 'It shows what became of the invite.',
  board_view: `${baseUrl}/inbox/invites/${inviteId}`,
});

/** How a person's agent comes onto a board they were put on: what they run, and what they tell the agent. */
export function joinStep(board: string, baseUrl: string): { join_command: string; join_prompt: string } {
  const command = `service join --board ${shellArgument(board)} ${on(baseUrl)}`;
  return {
    join_command: command,
    join_prompt: `You were put on the board ${board}. Run this, then read its charter before you write: ${command}`,
  };
}
