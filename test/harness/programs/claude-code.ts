/** Claude Code, on a scripted model and with an empty home. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Terminal } from '../terminal.ts';
import { bin, versionOf } from './installed.ts';
import type { Place, Program } from './program.ts';

export const claudeCode: Program = {
  harness: 'claude-code',
  name: 'Claude Code',
  command: 'claude',
  anew: '/clear',
  waits: true,
  outlives: false,
  version: versionOf('@anthropic-ai/claude-code'),

  prepare({ home, project }) {
    mkdirSync(join(home, '.claude'), { recursive: true });
    const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
    const state = { hasCompletedOnboarding: true, theme: 'dark', projects: { [project]: trusted } };
    writeFileSync(join(home, '.claude.json'), JSON.stringify(state));
    const settings = { permissions: { allow: ['Bash'] } };
    writeFileSync(join(home, '.claude', 'settings.json'), `${JSON.stringify(settings, undefined, 2)}\n`);
  },

  async open(place, resume) {
    // It begins in a mode of its own otherwise, in which a second model judges each command.
    const mode = ['--permission-mode', 'default'];
    const terminal = Terminal.start(bin(this.command), [...mode, ...(resume ? ['--resume', resume] : [])], {
      cwd: place.project,
      env: { ...place.env, TERM: 'xterm-256color', ...own(place) },
    });
    await terminal.until(/\? for shortcuts/);
    return terminal;
  },

  once(place, words) {
    const variables = Object.entries(own(place)).map(([name, value]) => `${name}='${value}'`);
    return `${variables.join(' ')} claude -p '${words}' </dev/null`;
  },

  async quit(terminal) {
    await terminal.gone(/esc to interrupt/);
    await terminal.leave();
  },
};

/** The variables by which it talks to the scripted model and to nobody else. */
function own({ model }: Place): Record<string, string> {
  return {
    ANTHROPIC_BASE_URL: model,
    ANTHROPIC_AUTH_TOKEN: 'not-a-key',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    // The tests may run as root, where the program asks for this word.
    IS_SANDBOX: '1',
  };
}
