/** Changes one setting of a board and returns the old and the new value. */
import type { BoardSession } from '../../../cli/session/open-session.ts';
import { duration } from '../../../cli/terminal/time.ts';
import { either } from '../../../contract/openapi/problems.ts';
import type { Board, BodyIn, Role } from '../../../contract/types.ts';
import { permissions } from '../../../contract/values.ts';
import { usage } from '../../../local/failure.ts';

/** After how many messages in a row agents are told so, and from which on nobody is woken. */
const runLimits = /^(\d{1,4})\/(\d{1,4})$/;

export const readBoard = async ({ client, board }: BoardSession): Promise<Board> =>
  (await client.call('getBoard', { params: { board } })).data;

/** `title of demo: before -> after`, or that nothing changed. */
export const changeLine = (thing: string, board: string, before: string, after: string): string =>
  before === after ? `${thing} of ${board}: unchanged` : `${thing} of ${board}: ${before} -> ${after}`;

type Policy = NonNullable<BodyIn<'updateBoard'>['policy']>;

const policyValues = {
  visibility: ['open', 'addressed'],
  broadcast: ['everyone', 'granted'],
  urgent: ['everyone', 'granted'],
  show_harness: ['true', 'false'],
  nudges: ['on', 'off'],
  agent_run: ['12/30', 'off'],
  stale_after: ['30m', 'off'],
} as const;

/** Every `key=value` that differs in nothing but fixed words. */
export const policySettings = Object.entries(policyValues).flatMap(([key, values]) =>
  values.map((value) => `${key}=${value}`),
);

/** A policy as words of the command line say it: a preset, then `key=value` for what differs from it. */
export function policyOptions(preset: string | undefined, set: readonly string[]): Policy | null {
  const options: Record<string, unknown> = preset === undefined ? {} : { preset };
  for (const word of set) {
    const [key = '', value = ''] = word.split('=', 2);
    if (!Object.hasOwn(policyValues, key)) {
      throw usage(`A policy has no setting "${key}".`, `Its settings: ${Object.keys(policyValues).join(', ')}`);
    }
    const [, notice, hold] = (key === 'agent_run' && runLimits.exec(value)) || [];
    if (hold !== undefined) {
      options[key] = { notice: Number(notice), hold: Number(hold) };
      continue;
    }
    if (key === 'stale_after' && value !== 'off') {
      options[key] = duration(value, key);
      continue;
    }
    const values: readonly string[] = policyValues[key as keyof typeof policyValues];
    if (!values.includes(value)) throw usage(`${key} is ${values.join(' or ')}.`, `Such as --set ${key}=${values[0]}`);
    options[key] = key === 'show_harness' ? value === 'true' : value;
  }
  return Object.keys(options).length === 0 ? null : (options as Policy);
}

type Roles = Record<string, Role>;
type Grant = Role['can'][number];

interface RoleOptions {
  set?: string | undefined;
  /** Left out: they stay. */
  can?: Grant[] | undefined;
  charter?: string | undefined;
  remove?: string | undefined;
  /** Whether it may be the same change once more, whose role is gone already. */
  repeatable: boolean;
}

/** The whole map with one role changed, added or taken out. */
export function rolesWith(roles: Readonly<Roles>, { set, can, charter, remove, repeatable }: RoleOptions): Roles {
  if (remove !== undefined) {
    if (!Object.hasOwn(roles, remove) && !repeatable)
      throw usage(`There is no role ${remove}.`, `Roles: ${Object.keys(roles).join(', ')}`);
    const { [remove]: _, ...rest } = roles;
    return rest;
  }
  const name = set ?? '';
  const known = Object.hasOwn(roles, name) ? roles[name] : undefined;
  if (!known && can === undefined) throw usage(`${name} is a new role: say what it may do.`, '--can post,create_tasks');
  const text = charter ?? known?.charter;
  return {
    ...roles,
    [name]: { can: can ?? known?.can ?? [], ...(text ? { charter: text } : {}) },
  };
}

/** A grant as typed: `claim_tasks=bug+docs` claims tasks of these types only. */
export function grantOf(word: string): Grant {
  const types = /^claim_tasks=(.+)$/.exec(word)?.[1];
  if (types !== undefined) return { claim_tasks: types.split('+') };
  const known = permissions.find((permission) => permission === word);
  if (known === undefined) throw usage(`--can takes ${either(permissions)}, but got "${word}".`);
  return known;
}
