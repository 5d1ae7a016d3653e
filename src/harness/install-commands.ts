/** How the built-in agent programs are installed and updated, as their vendors document it; none for a custom profile. */
export const installCommands: Record<string, { install: string; update: string }> = {
  'claude-code': { install: 'npm install -g @anthropic-ai/claude-code', update: 'claude update' },
  codex: { install: 'npm install -g @openai/codex', update: 'codex update' },
  omp: { install: 'npm install -g @oh-my-pi/pi-coding-agent', update: 'omp update' },
};
