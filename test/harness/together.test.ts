/** Claude Code and Codex, beside each other on the same machine and board. */
import { checkTogether } from './checks/together.ts';
import { claudeCode } from './programs/claude-code.ts';
import { codex } from './programs/codex.ts';

checkTogether(claudeCode, codex);
