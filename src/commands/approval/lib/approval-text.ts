/** Formats agents' requests, with the exact action in words. */
import { called } from '../../../cli/runtime.ts';
import { copyable, fields, indented } from '../../../cli/terminal/fields.ts';
import { table } from '../../../cli/terminal/table.ts';
import { followed, policyValueText, showTime, span, type TimeStyle } from '../../../cli/terminal/time.ts';
import { wholeChange } from '../../../contract/policy.ts';
import type { Answer, Approval, PolicyChange } from '../../../contract/types.ts';

type Outcome = Answer<'getApproval'>;

/** What it is about, by the labels the server gives; ids where it gives none. */
export function actionWords({ action, display }: Approval): string {
  const boards = display?.boards.map(({ name }) => name) ?? [];
  const target = display?.target_handle ?? ('person_id' in action ? action.person_id : '');
  const board = boards[0] ?? ('board_id' in action ? (action.board_id ?? '') : '');
  switch (action.kind) {
    case 'invite_people':
      return `invite one person to the server${boards.length === 0 ? '' : `, onto ${boards.join(', ')}`}`;
    case 'add_people':
      return `add ${target} to ${board}`;
    case 'set_server_role':
      return `make ${target} ${action.role === 'admin' ? 'an admin' : 'a member'} of the server`;
    case 'set_board_role':
      return `make ${target} ${action.role === 'owner' ? 'an owner' : 'a member'} of ${board}`;
    case 'remove_person':
      return action.board_id === undefined ? `remove ${target} from the server` : `remove ${target} from ${board}`;
    case 'revoke_key':
      return ['revoke', target ? `${target}'s key` : 'the key', display?.key_name, `(${action.key_id})`]
        .filter(Boolean)
        .join(' ');
    case 'set_board_policy':
      return `change the policy of ${board}: ${policyWords(action.policy)}`;
  }
}

const policyWords = (policy: PolicyChange): string =>
  Object.entries(wholeChange(policy))
    .map(([name, value]) => `${name}=${policyValueText(value)}`)
    .join(' ');

const agentOf = ({ display, agent_id }: Approval): string => display?.agent_name ?? agent_id;

const stateWords = (approval: Approval, times: TimeStyle): string =>
  approval.state === 'pending'
    ? `pending until ${showTime(approval.expires_at, followed(times))}`
    : `${approval.state} ${showTime(approval.decided_at ?? approval.created_at, times)}`;

/** One row per request. */
export const approvalRows = (approvals: Approval[], times: TimeStyle): Promise<string[]> =>
  table(
    ['ID', 'STATE', 'AGENT', 'WANTS TO'],
    approvals.map((approval) => [approval.id, stateWords(approval, times), agentOf(approval), actionWords(approval)]),
  );

/** The question before it is allowed, with all that is approved. @param keyInUse id of the key in use on this machine */
export const allowQuestion = (
  approval: Approval,
  { always, keyInUse }: { always: boolean; keyInUse: string | undefined },
) =>
  [
    `${agentOf(approval)} wants to ${actionWords(approval)}.`,
    ...details(approval, keyInUse),
    always ? 'Allow it, and the like from now on without asking?' : 'Allow it?',
  ].join('\n');

function details({ action, display }: Approval, keyInUse: string | undefined): string[] {
  const target = display?.target_handle;
  if (action.kind === 'revoke_key' && target !== undefined && target === display?.person_handle)
    return [action.key_id === keyInUse ? 'It is your own key, the one in use here.' : 'It is your own key.'];
  if (action.kind === 'set_board_policy' && wholeChange(action.policy).visibility === 'open')
    return ['Agents can then read all that was written there so far.'];
  if (action.kind !== 'invite_people') return [];
  const { pairing, suggested_handle: handle, ttl_seconds: ttl } = action.invite;
  return [
    ...(handle === undefined ? [] : [`For: ${handle}`]),
    `The link works for ${span(ttl)}.`,
    ...(pairing === undefined ? [] : ['To work on:', indented(pairing.work)]),
  ];
}

/**
 * A request, and an invite that came with it: its link alone on its line.
 * @param agent it is shown to the agent that asked, whose person runs the command at its end
 */
export function approvalText(
  { approval, invite, collected, recovered, pairing_request_id: pairing }: Outcome,
  { times, agent }: { times: TimeStyle; agent: boolean },
): string {
  const lines = fields([
    ['id', approval.id],
    ['state', stateWords(approval, times)],
    ['asked by', agentOf(approval)],
    ['action', actionWords(approval)],
    ['on', approval.display?.requested_on?.name],
    ['decision', approval.decision],
    ['reason', approval.closed_reason],
    ['invite', approval.execution?.invite_id],
    ['pairing', pairing],
    ['secret', approval.outcome.state === 'none' ? undefined : approval.outcome.state],
  ]);
  if (agent && pairing !== undefined) lines.push(selectText(pairing));
  if (invite) {
    const how = recovered ? 'Collected before, shown again' : collected ? 'Shown only now' : 'Shown once';
    return [...lines, `${how}:`, invite.invite, 'To pass on, in private:', copyable(invite.prompt)].join('\n');
  }
  const { next } = approval;
  return [...lines, ...(next ? [...(agent ? [next.resume] : []), called(next.command)] : [])].join('\n');
}

/** How the asking agent's session takes part in the work with the invited person, where it is not selected by itself. */
export const selectText = (pairing: string): string =>
  called(
    `The session that does the work takes part, unless it was selected already: service pairing select ${pairing} --here`,
  );

/** What the person runs to allow it: as the server names it, or at its address where it names none that is known. */
export const allowLine = ({ approval, next }: Pick<Answer<'requestAdminAction'>, 'approval' | 'next'>, url: string) =>
  called(next?.command ?? `service approvals allow ${approval.id} --server ${url}`);

/** What became of a decision. @param earlier it had been executed before this one @param url of the server */
export function allowedText(
  { state, approval, invite, warning, next }: Answer<'allowApproval'>,
  earlier: boolean,
  url: string,
): string {
  if (state === 'pending') return `Not decided: this needs your own access key.\n${allowLine({ approval, next }, url)}`;
  const what = actionWords(approval);
  // Another request was faster: the link was shown to that one.
  const another = !invite && approval.outcome.state !== 'none';
  const already = approval.execution?.effect === 'already' ? ' It was so already.' : '';
  return [
    earlier || another ? `Allowed earlier: ${what}.` : `Allowed: ${what}.${already}`,
    ...(invite ? [invite.invite] : []),
    ...(warning === undefined ? [] : [warning]),
  ].join('\n');
}

/** What a person's agents may do without asking. */
export const allowanceText = ({ categories, effective, warning }: Answer<'getAllowance'>): string =>
  [
    categories.length === 0
      ? 'Your agents ask you each time.'
      : `Without asking: ${categories.map(spelled).join(', ')}`,
    ...categories.filter((name) => !effective.includes(name)).map((name) => `Not in force now: ${spelled(name)}`),
    ...(warning === undefined ? [] : [warning]),
  ].join('\n');

const spelled = (name: string): string => name.replace('_', '-');

export const revisionRows = (rows: Answer<'listAllowanceRevisions'>['revisions'], times: TimeStyle) =>
  table(
    ['VERSION', 'CHANGED', 'WITH', 'REQUEST', 'WITHOUT ASKING'],
    rows.map(({ revision, categories, changed_at, changed_by }) => [
      `#${revision}`,
      showTime(changed_at, times),
      changed_by.with,
      changed_by.approval_id ?? '',
      categories.length === 0 ? 'nothing' : categories.map(spelled).join(', '),
    ]),
  );
