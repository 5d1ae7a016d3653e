/** How the programs that are built in are put onto a machine and brought up to date: what only their makers decide. */

interface Ways {
  install: string;
  update: string;
}

const ways: Record<string, Ways> = {
  'claude-code': { install: 'npm install -g @anthropic-ai/claude-code', update: 'claude update' },
  codex: { install: 'npm install -g @openai/codex', update: 'codex update' },
  omp: { install: 'npm install -g @oh-my-pi/pi-coding-agent', update: 'omp update' },
};

/** The command that installs the program; null for one that a person's own profile describes. */
export const installLine = (harness: string): string | null => ways[harness]?.install ?? null;

/** The command that brings it up to date. */
export const updateLine = (harness: string): string | null => ways[harness]?.update ?? null;
