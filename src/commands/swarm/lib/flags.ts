/** Flags of the swarm commands. */
import { listFlag, stringFlag } from '../../../cli/flags.ts';

export const fileFlag = {
  file: stringFlag('PATH', 'The file (default: service.yaml in this folder or the first above it)', { char: 'F' }),
};

export const onlyFlag = {
  only: listFlag({ helpValue: 'AGENT', description: 'Only this agent; may be given several times' }),
};
