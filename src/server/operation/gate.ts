/** Which kinds of credential an operation takes; nothing is looked up to decide it. */
import { type NextStep, Refusal } from '../../contract/errors.ts';
import type { OperationRow } from '../../contract/operation.ts';
import { type OperationName, operations } from '../../contract/operations.ts';
import type { Credential } from './caller.ts';
import { handOver } from './person-command.ts';

/** What a delegation is told about operations on keys, delegations, settings and allowing. */
const personal =
  /^\/v1\/(keys|settings|me\/approvals\/\{approval\}\/allow)(\/|$)|^\/v1\/delegations(\/\{delegation\})?$/;

/** Null where it may; else `forbidden`, `human_token_required`, `agent_token_required` or `browser_session_required`. */
export function refusedKind(name: OperationName, kind: Credential['kind'], told: Told): Refusal | null {
  const row: OperationRow = operations[name];
  const lacking = row.agentsNeed !== undefined && kind === 'AG' && !new URLSearchParams(told.query).has(row.agentsNeed);
  if (lacking)
    return new Refusal('human_token_required', 'Only a person may do this.', {
      hint: `An agent may with ${row.agentsNeed}=… in the query; else ask its person.`,
    });
  return row.credentials.includes(kind)
    ? null
    : wrongKind(row, kind, () => handOver(name, told.params, told.baseUrl()));
}

/** What a refusal may tell of the request and its server. */
interface Told {
  params: Readonly<Record<string, string>>;
  /** As received. */
  query: string;
  baseUrl(): string;
}

function wrongKind({ credentials, path }: OperationRow, kind: Credential['kind'], next: () => NextStep | undefined) {
  if (kind === 'PC') return proofOnly();
  if (kind === 'DG') return personal.test(path) ? personRequired(kind, next()) : delegationOnly();
  if (isOnly(credentials, 'PC')) return proofRequired();
  if (credentials.includes('DG') && !credentials.includes('PK')) return delegateRequired();
  if (credentials.includes('IN')) return inviteRequired();
  if (isOnly(credentials, 'BR')) return browserRequired();
  if (isOnly(credentials, 'AG')) return agentRequired();
  return personRequired(kind, next());
}

const isOnly = (credentials: OperationRow['credentials'], kind: Credential['kind']): boolean =>
  credentials.length === 1 && credentials[0] === kind;

/** @param kind what came instead. @param next what the person runs. */
export function personRequired(kind: Credential['kind'] = 'AG', next?: NextStep): Refusal {
  return new Refusal(
    'human_token_required',
    kind === 'BR' ? 'This needs your own access key, not a browser session.' : 'Only a person may do this.',
    {
      hint:
        kind === 'BR'
          ? 'Do it on the command line of a signed-in machine: service status shows whether yours is.'
          : "Ask the agent's person to do it with their own access key.",
      ...(next ? { next } : {}),
    },
  );
}

const agentRequired = (): Refusal =>
  new Refusal('agent_token_required', 'Only an agent may do this.', {
    hint: "Use the agent's own token: on the command line, --as AGENT.",
  });

const browserRequired = (): Refusal =>
  new Refusal('browser_session_required', 'Only a browser session has this.', {
    hint: 'Sign in on the page: service open shows the way.',
  });

const delegationOnly = (): Refusal =>
  new Refusal('forbidden', 'A delegation may only list boards, join them and create them.', {
    hint: "Use the person's own access key for everything else.",
  });

const proofOnly = (): Refusal =>
  new Refusal('forbidden', 'An endpoint credential may only read, accept and verify its own pairing request.', {
    hint: "Use the person's own access key, or the agent's own token.",
  });

const proofRequired = (): Refusal =>
  new Refusal('forbidden', 'Only the session that was selected for this side may do this.', {
    hint: 'Its runtime does it: service pairing accept --here, or service pairing select --here, in that session.',
  });

const delegateRequired = (): Refusal =>
  new Refusal('forbidden', 'Only a machine delegation may do this.', {
    hint: 'A person creates boards with: service board create NAME.',
  });

export const inviteRequired = (): Refusal =>
  new Refusal('forbidden', 'Only the invite itself opens its preview.', {
    hint: 'Send "Authorization: Bearer abi_…" with the secret of the link.',
  });
