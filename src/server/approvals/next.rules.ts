/** The commands that a person or agent runs next. Guidance, never permission; no secret is ever in one. */
import type { NextStep } from '../../contract/errors.ts';
import { shellArgument } from '../../contract/text.ts';
import type { Approval } from '../../contract/types.ts';
import { listStep, step } from '../pairing/next.rules.ts';

/** For the person whose agent asked. */
export function allowStep(approvalId: string, baseUrl: string): NextStep {
  const resume = 'Your person runs it in their own terminal, or decides on the page; this session is then told.';
  return step(baseUrl, `service approvals allow ${approvalId}`, resume, `approvals/${approvalId}`);
}

/** For the person in a browser, where only their own key allows it. */
export const ownKeyStep = (approvalId: string, baseUrl: string): NextStep => ({
  ...allowStep(approvalId, baseUrl),
  resume: "This needs the person's own access key: run it in a terminal of a signed-in machine.",
});

/** For the agent that asked for an invite whose secret is not shown to it again; nothing where there never was one. */
export const goneStep = ({ execution, outcome }: Approval, baseUrl: string): Pick<Approval, 'next'> =>
  execution?.invite_id === undefined || outcome.state === 'none'
    ? {}
    : { next: revokeStep(execution.invite_id, baseUrl) };

/** When an invite's secret cannot be shown again. */
function revokeStep(inviteId: string, baseUrl: string): NextStep {
  const resume = 'The link is shown only once. If it was lost, your person revokes it, and you ask for a new invite.';
  return step(baseUrl, `service invite revoke ${inviteId}`, resume, `invites/${inviteId}`);
}

/** For the person whose agent made an invite that still brings somebody. */
export const takeBackStep = (inviteId: string, baseUrl: string): NextStep => ({
  ...revokeStep(inviteId, baseUrl),
  resume: 'Run it in your own terminal if nobody should come by this invite.',
});

/** What the agent runs once its request is decided. */
function showStep(approvalId: string, baseUrl: string): NextStep {
  const resume = 'Run it in this session: it shows the decision, and an invite that waits for you once.';
  return step(baseUrl, `service approvals show ${approvalId}`, resume, `approvals/${approvalId}`);
}

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
    const command = `service task show ${task.ref} --board ${shellArgument(board)}`;
    return step(baseUrl, command, 'It shows who has the task now and where it stands.');
  }
  if (board !== undefined) {
    return step(baseUrl, `service members --board ${shellArgument(board)}`, 'It shows who is on the board now.');
  }
  return step(baseUrl, `service people show ${shellArgument(person?.handle ?? 'me')}`, 'It shows who came.');
}

/** For an invite that nothing can be done about any more. */
export const inviteStep = (inviteId: string, baseUrl: string): NextStep =>
  step(baseUrl, `service invite show ${inviteId}`, 'It shows what became of the invite.', `invites/${inviteId}`);

/** How a person's agent comes onto a board they were put on: what they run, and what they tell the agent. */
export function joinStep(board: string, baseUrl: string): { join_command: string; join_prompt: string } {
  const { command } = step(baseUrl, `service join --board ${shellArgument(board)}`, '');
  return {
    join_command: command,
    join_prompt: `You were put on the board ${board}. Run this, then read its charter before you write: ${command}`,
  };
}
