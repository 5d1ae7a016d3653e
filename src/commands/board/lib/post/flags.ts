/** The flags of `board post`. */
import type { Interfaces } from '@oclif/core';
import {
  booleanFlag,
  choiceFlag,
  integerFlag,
  listFlag,
  repeatedFlag,
  stringFlag,
  waitFlags,
  type writeFlags,
} from '../../../../cli/flags.ts';
import type { TimeStyle } from '../../../../cli/terminal/time.ts';

export const postFlags = {
  to: listFlag({ char: 't', helpValue: 'TARGET', description: 'all, @name, role:R, owner:handle or mine' }),
  reply: stringFlag('MSG', 'Reply to this message', { char: 'r' }),
  option: integerFlag('K', 'Answer the ask with this option; its words are the default text', {
    min: 1,
    max: 4,
    dependsOn: ['reply'],
  }),
  comment: booleanFlag('A reply to an ask that is no answer', { dependsOn: ['reply'], exclusive: ['option'] }),
  task: listFlag({ char: 'T', helpValue: 'T', description: 'A task it is about' }),
  'no-task': booleanFlag('About no task', { exclusive: ['task'] }),
  file: listFlag({ char: 'F', helpValue: 'NAME[@V]', description: 'Attach this file of the board, a path or fil_…' }),
  attach: repeatedFlag('PATH[=NAME]', 'Put this file onto the board, then attach it; - is standard input'),
  urgent: booleanFlag('May interrupt', { char: 'u' }),
  'expect-reply': booleanFlag('Say that an answer is expected'),
  'body-file': stringFlag('PATH', 'Take the text from a file'),
  code: stringFlag('[=LANG]', 'Put the text into a code block'),
  truncate: choiceFlag(['none', 'head', 'tail'], 'Which part of a text that is too long to keep'),
  'ndjson-in': booleanFlag('Post one message per line of JSON on standard input', {
    // Each line says these for itself.
    exclusive: [
      ...['to', 'reply', 'option', 'comment', 'task', 'no-task', 'file', 'attach', 'urgent', 'expect-reply'],
      ...['wait-reply', 'body-file', 'code', 'truncate'],
    ],
  }),
  'keep-going': booleanFlag('With --ndjson-in: go on after a line that fails', { dependsOn: ['ndjson-in'] }),
  'no-notes': booleanFlag('Do not say who gets it when'),
  'wait-reply': integerFlag('SECONDS', 'Wait for a reply; implies --expect-reply', { min: 0, max: 86_400 }),
  ...waitFlags,
};

/** What they say, the text, and how times are shown. */
export type PostOptions = Interfaces.InferredFlags<typeof postFlags & typeof writeFlags> & {
  body: string | undefined;
  times: TimeStyle;
};
