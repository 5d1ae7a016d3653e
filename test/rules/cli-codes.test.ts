/** The error codes this program makes itself: those it throws are those it promises. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { errors } from '../../src/contract/errors.ts';
import { launcherCodes } from '../../src/launch/codes.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Codes besides those of the API. */
const promised = `
  server_not_running server_unreachable server_unknown server_not_selected server_outdated server_unexpected
  server_identity_changed insecure_server address_in_use request_timeout response_too_large outcome_unknown
  login_required already_connected invite_link_invalid key_invalid key_not_selected keychain_unavailable
  keychain_locked credentials_unsafe config_corrupt board_not_selected board_ambiguous board_already_linked
  agent_not_selected agent_ambiguous agent_on_another_server agent_seat_elsewhere human_command_in_session
  subagent_without_seat session_unknown session_on_another_server join_line_invalid message_ref_invalid
  no_current_task body_empty invalid_utf8 too_many_results local_file_exists file_changed_locally checksum_mismatch
  binary_to_terminal merge_conflict merge_unavailable editor_failed browser_unavailable confirmation_required
  check_failed data_newer storage_unsupported backup_invalid restore_target_not_empty unsupported_platform
  path_conflict settings_unreadable`
  .trim()
  .split(/\s+/);

/** Of the daemon, passed on. */
const daemons = `
  daemon_protocol_mismatch subagent_session harness_target_absent harness_subagent_target harness_unavailable
  extension_outdated queue_unknown daemon_stopping daemon_not_running daemon_in_sandbox sandbox_blocks_network
  daemon_outdated socket_unsafe pairing_ambiguous`
  .trim()
  .split(/\s+/);

/** Of launchers, made here or passed on. */
const launchers: readonly string[] = launcherCodes;

/**
 * Of this program beyond that list: a text that somebody else changed meanwhile, a folder or an output that cannot be used,
 * a project file of somebody else.
 */
const further = ['folder_unwritable', 'output_failed', 'output_lost', 'project_unsafe', 'stale'];

/** Codes of commands that are not there yet. From the day one of the files is there, its codes are looked for. */
const later: Record<string, string[]> = {
  'commands/storage/migrate.ts': ['data_newer'],
  'commands/backup/verify.ts': ['backup_invalid'],
  'commands/backup/restore.ts': ['restore_target_not_empty'],
  'commands/task/done.ts': ['no_current_task'],
  'commands/agent/resume.ts': ['session_on_another_server'],
  'commands/hook.ts': ['subagent_without_seat'],
  'commands/init/index.ts': ['path_conflict', 'settings_unreadable'],
};

const thrown = new Map<string, string>();
for (const folder of ['cli', 'client', 'commands', 'daemon', 'launch', 'local', 'mcp']) {
  if (!existsSync(join(root, 'src', folder))) continue;
  for (const file of readdirSync(join(root, 'src', folder), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const source = readFileSync(join(root, 'src', folder, file), 'utf8');
    const made =
      /(?:new (?:Failure|ClientError|DaemonError|ControlRefusal)|launchFailure)\(\s*(?:[\w.]+\s*\?\s*'([a-z_0-9]+)'\s*:\s*)?'([a-z_0-9]+)'/g;
    for (const [, one, other] of source.matchAll(made))
      for (const code of [one, other]) if (code !== undefined) thrown.set(code, `src/${folder}/${file}`);
  }
}

describe('codes of the command line', () => {
  it('of launchers are those of their protocol, each of which this program makes or passes on', () => {
    const made = [...thrown].filter(([code]) => launchers.includes(code)).map(([code]) => code);
    expect(launchers.filter((code) => !made.includes(code))).to.deep.equal([]);
  });

  it('are promised, or the API has them', () => {
    const known = new Set([...Object.keys(errors), ...promised, ...daemons, ...launchers, ...further]);
    const strangers = [...thrown].filter(([code]) => !known.has(code));
    expect(strangers).to.deep.equal([]);
  });

  const expected = Object.entries(later).filter(([file]) => !existsSync(join(root, 'src', file)));
  const waiting = expected.flatMap(([, codes]) => codes).filter((code) => !thrown.has(code));
  it(`are thrown somewhere, apart from those of commands that are not there yet: ${waiting.join(', ') || 'none'}`, () => {
    const missing = promised.filter((code) => !thrown.has(code));
    expect(missing).to.have.members(waiting);
  });

  it('beyond the promise are in use, and are no codes of the API', () => {
    expect(further.filter((code) => !thrown.has(code) || Object.hasOwn(errors, code))).to.deep.equal([]);
  });
});
