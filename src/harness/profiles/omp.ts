/** omp: our extension holds a connection from inside the program. */
import type { Profile } from '../profile.ts';

export const omp: Profile = {
  harness: 'omp',
  name: 'omp',
  command: 'omp',
  drives: 'real',
  checks: { installed: { run: ['omp', '--version'] }, min_version: '18.5.1', proved_version: '18.2.3' },
  session_env: ['OMPCODE'],
  config_dir: { env: 'PI_CODING_AGENT_DIR', default: '~/.omp/agent' },
  identity: { kind: 'extension', precedence: 15, yields_to: ['CODEX_THREAD_ID'] },
  subagent_identity: 'marked',
  lifecycle: { liveness: 'connection', resume_keeps_id: true, resume_start: 'at-open' },
  delivery: {
    capabilities: ['extension', 'turn-start', 'tool-boundary', 'midturn-peer', 'waiting-signal'],
    waiting_notice: true,
  },
  reserved_tags: ['system-reminder', 'system_reminder'],
  install: [
    {
      kind: 'file',
      global: '{config_dir}/extensions/service.ts',
      project: '.omp/extensions/service.ts',
      source: 'omp-extension',
    },
    { kind: 'skill', global: '{config_dir}/skills/service/SKILL.md', project: '.omp/skills/service/SKILL.md' },
    { kind: 'consent', text: 'Sessions that are open now use the extension after they are started again.' },
  ],
  interactive: { start: ['omp', '{prompt}'], resume: ['omp', '--resume', '{session}'], launch: 'env' },
  headless: { via: 'native', run: ['omp', '-p', '{prompt}'], model: ['--model', '{model}'] },
};
