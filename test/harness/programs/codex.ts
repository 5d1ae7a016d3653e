/** Codex, on a scripted model and with an empty home. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Terminal } from '../terminal.ts';
import { bin, versionOf } from './installed.ts';
import type { Program } from './program.ts';

export const codex: Program = {
  harness: 'codex',
  name: 'Codex',
  version: versionOf('@openai/codex'),

  prepare({ home, project, model }) {
    mkdirSync(join(home, '.codex'), { recursive: true });
    const config = [
      'model = "gpt-5.1-codex"',
      'model_provider = "scripted"',
      'approval_policy = "never"',
      'sandbox_mode = "danger-full-access"',
      'check_for_update_on_startup = false',
      '[model_providers.scripted]',
      'name = "scripted"',
      `base_url = "${model}/v1"`,
      'wire_api = "responses"',
      'env_key = "SCRIPTED_KEY"',
      `[projects."${project}"]`,
      'trust_level = "trusted"',
    ];
    writeFileSync(join(home, '.codex', 'config.toml'), `${config.join('\n')}\n`);
  },

  async open(place, resume) {
    const terminal = Terminal.start(bin('codex'), resume ? ['resume', resume] : [], {
      cwd: place.project,
      env: { ...place.env, TERM: 'xterm-256color', SCRIPTED_KEY: 'not-a-key' },
    });
    await terminal.until(/Hooks need review|Ask Codex/);
    if (/Hooks need review/.test(terminal.text())) {
      terminal.key('2');
      await terminal.until(/› 2\. Trust all/);
      terminal.key('\r');
    }
    await terminal.until(/Ask Codex/);
    return terminal;
  },

  async quit(terminal) {
    await terminal.gone(/esc to interrupt/);
    await terminal.leave();
  },
};
