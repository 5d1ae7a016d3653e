/** Flags of the swarm commands. */
import * as Flags from '@oclif/core/flags';
import { listFlag } from '../../../cli/flags.ts';

export const fileFlag = {
  file: Flags.string({
    char: 'F',
    helpValue: 'PATH',
    description: 'The file (default: service.yaml in this folder or the first above it)',
  }),
};

export const onlyFlag = {
  only: listFlag({ helpValue: 'AGENT', description: 'Only this agent; may be given several times' }),
};
