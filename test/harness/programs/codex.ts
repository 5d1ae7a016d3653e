/** Codex, on a scripted model and with an empty home. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Terminal } from '../terminal.ts';
import { bin, versionOf } from './installed.ts';
import type { Program } from './program.ts';

export const codex: Program = {
  harness: 'codex',
  name: 'Codex',
  command: 'codex',
  anew: '/clear',
  waits: false,
  outlives: true,
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
    const terminal = Terminal.start(bin(this.command), resume ? ['resume', resume] : [], {
      cwd: place.project,
      env: { ...place.env, TERM: 'xterm-256color', SCRIPTED_KEY: 'not-a-key' },
    });
    // It shows its prompt first and then asks about hooks that are new to it; what a person trusted is in its settings.
    if (!readFileSync(join(place.home, '.codex', 'config.toml'), 'utf8').includes('trusted_hash')) {
      await terminal.until(/Hooks need review/);
      await terminal.press('2', /› 2\. Trust all/);
      await terminal.press('\r', /^(?![\s\S]*Hooks need review)/);
    }
    await terminal.until(/Ask Codex/);
    return terminal;
  },

  once(_place, words) {
    return `SCRIPTED_KEY=not-a-key codex exec --skip-git-repo-check '${words}' </dev/null`;
  },

  async quit(terminal) {
    await terminal.gone(/esc to interrupt/);
    await terminal.leave();
  },
};
