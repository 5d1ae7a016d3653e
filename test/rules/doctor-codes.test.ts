/** Every code that doctor owns is made to come about in a test of its own, which also runs the line that mends it. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { builtinProfiles } from '../../src/harness/builtin.ts';

/** As the contract names them; `<harness>` is any program for which something is set up. */
const codes =
  `daemon_not_running daemon_in_sandbox sandbox_blocks_network daemon_outdated socket_unsafe credentials_unsafe
  journal_unwritable data_newer <harness>_not_installed <harness>_outdated <harness>_version_unknown
  <harness>_hooks_missing <harness>_hooks_unsupported <harness>_command_not_allowed hooks_outdated hooks_edited
  skill_outdated skill_edited extension_missing extension_outdated extension_edited settings_unreadable path_conflict
  queue_missing harness_target_absent harness_subagent_target profile_invalid server_unreachable server_outdated
  server_identity_changed login_missing unauthorized agent_removed board_gone delivery_attention delivery_stalled
  delivery_truncated handoff_failed wake_echo_missing delivery_mode_unconfirmed harness_version_untested
  settings_commented server_address_changed daemon_error`.split(/\s+/);

const read = (folder: string, pick: (name: string) => boolean): string => {
  const path = fileURLToPath(new URL(folder, import.meta.url));
  return readdirSync(path)
    .filter(pick)
    .map((name) => readFileSync(`${path}/${name}`, 'utf8'))
    .join('\n');
};

describe('codes of service doctor', () => {
  const tests = read('../cli', (name) => /^doctor-\w+\.test\.ts$/.test(name));
  const harnesses = builtinProfiles.filter(({ install }) => install.length > 0).map(({ harness }) => harness);

  for (const code of codes)
    it(`${code} is tested`, () => {
      const names = code.startsWith('<harness>') ? harnesses.map((name) => code.replace('<harness>', name)) : [code];
      expect(names.filter((name) => tests.includes(`'${name}'`))).to.not.deep.equal([]);
    });

  it('are no others than these and those of checks that the contract only describes', () => {
    const source = read('../../src/commands/doctor/checks', (name) => name.endsWith('.ts'));
    const raised = [...source.matchAll(/(?:failing|warning|unreachable)\(\s*(?:'[^']*'|[\w.]+),\s*'([a-z_]+)'/g)].map(
      ([, code]) => code,
    );
    const described = `node_outdated unsupported_platform folder_unwritable stale storage_full keychain_unavailable version_skew
      version_unknown clock_skew address_in_use blob_missing blob_corrupt check_failed request_timeout server_unknown`;
    expect(
      [...new Set(raised)].filter((code) => !codes.includes(code!) && !described.split(/\s+/).includes(code!)),
    ).to.deep.equal([]);
    expect(raised.length).to.be.above(20);
  });
});
