/** The same checks in omp, with the extension that `service init` wrote. */
import { checkProgram } from '../checks/all.ts';
import { omp } from '../programs/omp.ts';

checkProgram(omp);
