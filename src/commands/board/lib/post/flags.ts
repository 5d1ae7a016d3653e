/** Flags that say what a message is about, what it answers and what goes with it. */
import * as Flags from '@oclif/core/flags';
import { listFlag } from '../../../../cli/flags.ts';

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
  task: listFlag({ char: 'T', helpValue: 'T', description: 'A task it is about' }),
  'no-task': Flags.boolean({ description: 'About no task', exclusive: ['task'] }),
};

export const attachFlags = {
  file: listFlag({ char: 'F', helpValue: 'NAME[@V]', description: 'Attach this file of the board, a path or fil_…' }),
  // No commas between: a path may hold one.
  attach: Flags.string({
    helpValue: 'PATH[=NAME]',
    description: 'Put this file onto the board, then attach it; - is standard input',
    multiple: true,
    multipleNonGreedy: true,
  }),
};
