/** The same checks in omp, with the extension that `service init` wrote, and omp beside another program. */
import { checkProgram } from '../checks/all.ts';
import { checkTogether } from '../checks/together.ts';
import { claudeCode } from '../programs/claude-code.ts';
import { omp } from '../programs/omp.ts';

checkProgram(omp);
checkTogether(claudeCode, omp);
