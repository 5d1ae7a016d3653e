/** The command that a person runs where their agent may not, told with the refusal. It is guidance, never permission. */
import type { NextStep } from '../../contract/errors.ts';
import type { OperationName } from '../../contract/operations.ts';
import { shellArgument } from '../../contract/text.ts';

const allowanceStep = (verb: string): NextStep => ({
  command: `service allowance ${verb}`,
  resume: 'Your person runs it in their own terminal: only they say what their agents do without asking.',
  board_view: '/settings/allowance',
});

/** A path parameter stands in braces; what is shown on the page, as a path of it. */
const steps: Partial<Record<OperationName, NextStep>> = {
  createInvite: {
    command: 'service invite --person',
    resume: 'In a session this asks your person for the invite; in their own terminal they make it at once.',
  },
  listInvites: {
    command: 'service invite list',
    resume: 'Your person runs it in their own terminal and tells you what you need of it.',
  },
  getInvite: {
    command: 'service invite show {invite}',
    resume: 'Your person runs it in their own terminal and tells you what you need of it.',
  },
  revokeInvite: {
    command: 'service invite revoke {invite}',
    resume: 'Your person runs it in their own terminal; the invite then stops working.',
  },
  allowApproval: {
    command: 'service approvals allow {approval}',
    resume: 'Your person runs it in their own terminal, or decides on the page; this session is then told.',
    board_view: '/inbox/approvals/{approval}',
  },
  declineApproval: {
    command: 'service approvals decline {approval}',
    resume: 'Your person runs it in their own terminal, or decides on the page.',
    board_view: '/inbox/approvals/{approval}',
  },
  listInviteNotices: {
    command: 'service invite list',
    resume: 'Your person runs it in their own terminal and tells you what you need of it.',
  },
  getOnboardingReceipt: {
    command: 'service connect --resume',
    resume: 'Only the key that an invite brought reads what became of it: its person runs it in their own terminal.',
  },
  getOnboardingInbox: {
    command: 'service inbox',
    resume: 'Your person runs it in their own terminal: it shows what waits for them.',
    board_view: '/inbox',
  },
  choosePairingAgent: {
    command: 'service pairing show {pairing}',
    resume: 'Your person chooses one of their agents in their own terminal, or on the page: service pairing choose.',
    board_view: '/inbox/pairings/{pairing}',
  },
  declinePairing: {
    command: 'service pairing decline {pairing}',
    resume: 'Your person runs it in their own terminal, or declines on the page.',
    board_view: '/inbox/pairings/{pairing}',
  },
  selectPairingEndpoint: {
    command: 'service pairing list',
    resume: 'The runtime of a session does it by service pairing accept --here or select --here, run in that session.',
  },
  getAllowance: allowanceStep('show'),
  setAllowance: allowanceStep('show'),
  clearAllowance: allowanceStep('off'),
  listAllowanceRevisions: allowanceStep('history'),
};

/** What to run for this operation on the server at this address; undefined where nothing is told. */
export function handOver(name: OperationName, params: Readonly<Record<string, string>>, baseUrl: string) {
  const step = steps[name];
  if (!step) return undefined;
  const command = step.command.replaceAll(/\{([a-z_]+)\}/g, (_match, key: string) => shellArgument(params[key] ?? ''));
  const view = step.board_view?.replaceAll(/\{([a-z_]+)\}/g, (_match, key: string) => params[key] ?? '');
  return {
    ...step,
    command: `${command} --server ${shellArgument(baseUrl, null)}`,
    ...(view === undefined ? {} : { board_view: `${baseUrl}${view}` }),
  };
}
