/** Flags that say what a message is about and what it answers. */
import * as Flags from '@oclif/core/flags';
import { listFlag } from './flags.ts';

export const aboutFlags = {
  option: Flags.integer({
    min: 1,
    max: 4,
    helpValue: 'K',
    description: 'Answer the ask with this option; its words are the default text',
    dependsOn: ['reply'],
  }),
  comment: Flags.boolean({
    description: 'A reply to an ask that is no answer',
    dependsOn: ['reply'],
    exclusive: ['option'],
  }),
  task: listFlag({ helpValue: 'T', description: 'A task it is about' }),
  'no-task': Flags.boolean({ description: 'About no task', exclusive: ['task'] }),
};
