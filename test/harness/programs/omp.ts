/** omp, on a scripted model and with an empty home. It is installed apart: `npm ci --prefix test/harness/omp`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Terminal } from '../terminal.ts';
import { bin, versionOf } from './installed.ts';
import type { Program } from './program.ts';

export const omp: Program = {
  harness: 'omp',
  name: 'omp',
  command: 'omp',
  apart: { folder: 'omp', beside: ['bun'] },
  anew: '/new',
  waits: true,
  outlives: false,
  version: versionOf('@oh-my-pi/pi-coding-agent', 'omp'),

  prepare({ home, model }) {
    const folder = join(home, '.omp', 'agent');
    mkdirSync(folder, { recursive: true });
    const scripted = {
      baseUrl: model,
      apiKey: 'not-a-key',
      api: 'anthropic-messages',
      models: [{ id: 'scripted', name: 'Scripted', contextWindow: 200_000, maxTokens: 8_000 }],
    };
    const startup = { setupWizard: false, showSplash: false, checkUpdate: false };
    // A conversation as short as one of these is not compacted otherwise.
    const settings = { setupVersion: 99, startup, compaction: { keepRecentTokens: 1 } };
    writeFileSync(join(folder, 'config.yml'), JSON.stringify(settings));
    writeFileSync(join(folder, 'models.yml'), JSON.stringify({ providers: { scripted } }));
  },

  async open(place, resume) {
    const args = ['--model', 'scripted/scripted', ...(resume ? ['--resume', resume] : [])];
    const terminal = Terminal.start(bin('omp', 'omp'), args, {
      cwd: place.project,
      env: { ...place.env, TERM: 'xterm-256color' },
    });
    await terminal.until(/^ π > /m);
    return terminal;
  },

  once(_place, words) {
    return `omp -p --model scripted/scripted '${words}' </dev/null`;
  },

  async quit(terminal) {
    await terminal.gone(/Working…/);
    await terminal.leave();
  },
};
