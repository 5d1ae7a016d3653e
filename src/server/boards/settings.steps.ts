/** Changes to a board's settings, each with its event. Nothing is written where nothing changes. */
import { canonicalJson } from '../../contract/canonical.ts';
import type { PolicyChange, Role } from '../../contract/types.ts';
import { revokeCodes } from '../joining/join-codes.steps.ts';
import { releaseWithin } from '../messages/release.steps.ts';
import type { Authorized } from '../record/append.steps.ts';
import { record, type Setting } from './acting.steps.ts';
import { type BoardRow, parsePolicy, parseRoles, saveBoard } from './boards.store.ts';
import { changedPolicy, withOverrides } from './policy.rules.ts';
import { prefixHolder, reservePrefix } from './prefixes.store.ts';

export async function setTitle(setting: Setting, title: string | null): Promise<void> {
  const { title: before } = setting.board;
  if (title === before) return;
  await saveBoard(setting.tx, setting.board, { title });
  await record(setting, 'board.titled', { before, after: title });
  // The list of boards shows it, also to those who only see the board.
  if (setting.board.visibility === 'open') setting.tx.publish('boards');
}

/** Charter and roles; codes for a role that is no more stop working. */
export async function setConfig(setting: Setting, wanted: { charter?: string; roles?: Record<string, Role> }) {
  const { tx, board } = setting;
  const before = { charter: board.charter, roles: parseRoles(board) };
  const data: Record<string, unknown> = {};
  const columns: Partial<BoardRow> = {};
  if (wanted.charter !== undefined && wanted.charter !== before.charter) {
    data['charter'] = { before: before.charter, after: wanted.charter };
    columns.charter = wanted.charter;
  }
  if (wanted.roles && canonicalJson(wanted.roles) !== canonicalJson(before.roles)) {
    data['roles'] = { before: before.roles, after: wanted.roles };
    columns.roles = JSON.stringify(wanted.roles);
  }
  if (Object.keys(data).length === 0) return;
  await saveBoard(tx, board, columns);
  await record(setting, 'board.config_changed', data);
  const { roles = before.roles } = wanted;
  const dropped = Object.keys(before.roles).filter((name) => !Object.hasOwn(roles, name));
  if (dropped.length > 0) await revokeCodes(setting, { roles: dropped });
}

export async function setPolicy(setting: Setting, change: PolicyChange, why: Authorized = {}): Promise<void> {
  const before = parsePolicy(setting.board);
  const after = changedPolicy(before, change);
  if (canonicalJson(after) === canonicalJson(before)) return;
  await saveBoard(setting.tx, setting.board, { policy: JSON.stringify(after) });
  await record(setting, 'board.policy_changed', {
    before: withOverrides(before),
    after: withOverrides(after),
    preset_applied: change.preset ?? null,
    ...why,
  });
  if (canonicalJson(after.agent_run) !== canonicalJson(before.agent_run))
    await releaseWithin(setting.tx, setting.board.id, after.agent_run);
}

export async function setAgentsAddPeople(setting: Setting, allowed: boolean): Promise<void> {
  if ((setting.board.agents_add_people === 1) === allowed) return;
  await saveBoard(setting.tx, setting.board, { agents_add_people: allowed ? 1 : 0 });
  await record(setting, 'board.agents_add_people_changed', { agents_add_people: allowed });
}

/**
 * The prefix must be free or have been this board's (`prefixHolder`). Where another board took it since that was asked,
 * the unique index stops this transaction, and the next try is told so.
 */
export async function setTaskPrefix(setting: Setting, prefix: string): Promise<void> {
  const { tx, board } = setting;
  const { task_prefix: before } = board;
  if (prefix === before) return;
  if ((await prefixHolder(tx, prefix)) !== board.id) await reservePrefix(tx, prefix, board.id);
  await saveBoard(tx, board, { task_prefix: prefix });
  await record(setting, 'board.task_prefix_set', { before, after: prefix });
}
