/** Any other program: the runner keeps the connection and starts the program once per bundle. */
import type { Profile } from '../profile.ts';

export const command: Profile = {
  harness: 'command',
  name: 'Any command',
  command: 'service',
  drives: 'real',
  checks: { installed: { run: ['service', 'version'] } },
  session_env: [],
  identity: { kind: 'runner', precedence: 0 },
  subagent_identity: 'none',
  lifecycle: { liveness: 'connection' },
  delivery: { capabilities: ['extension'] },
  install: [],
  notes: ['Started by service run; without it the program reads its messages with service inbox --wait.'],
};
