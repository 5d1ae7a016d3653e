/** How the built-in agent programs are installed and updated, as their vendors document it. */

interface InstallCommands {
  install: string;
  update: string;
}

const installCommands: Record<string, InstallCommands> = {
  'claude-code': { install: 'npm install -g @anthropic-ai/claude-code', update: 'claude update' },
  codex: { install: 'npm install -g @openai/codex', update: 'codex update' },
  omp: { install: 'npm install -g @oh-my-pi/pi-coding-agent', update: 'omp update' },
};

/** The command that installs the program; null for a custom profile. */
export const installLine = (harness: string): string | null => installCommands[harness]?.install ?? null;

/** The command that updates the program; null for a custom profile. */
export const updateLine = (harness: string): string | null => installCommands[harness]?.update ?? null;
