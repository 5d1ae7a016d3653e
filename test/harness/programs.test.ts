/**
 * What the delivery daemon promises, shown in the real programs: each session runs in a terminal of its own, with the
 * hooks that `service init` wrote and a scripted model in place of a model. A message counts as delivered when it stands in
 * a request that reached the model.
 */
import { checkProgram } from './checks/all.ts';
import { claudeCode } from './programs/claude-code.ts';
import { codex } from './programs/codex.ts';

for (const program of [claudeCode, codex]) checkProgram(program);
