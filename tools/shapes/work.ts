/** What the commands about tasks, lines, files and the brief print with `--json`. */
import { z } from 'zod';
import {
  answer,
  boardFile,
  count,
  fileDetail,
  flag,
  inbox,
  member,
  message,
  named,
  nextText,
  object,
  task,
  text,
} from './base.ts';

const taskRef = inbox.shape.work.shape.oldest_open;
const line = inbox.shape.work.shape.line;
const changed = named(
  'ChangedTask',
  object({
    task,
    line,
    next: taskRef,
    nudges: z.array(z.strictObject({ code: text, text })),
  }),
);
const tasks = answer('listAllTasks').shape;
const texts = answer('listTaskTexts').shape;
const lines = named('LineOfAgent', object({ agent: text, line, state: member.shape.state }));
const file = named('OneFile', object({ file: boardFile }));
const put = named(
  'PutFile',
  object({ file: z.union([boardFile, fileDetail]), version: count, replaces: count, changed: flag }),
);
const got = named(
  'SavedFile',
  object({
    name: text,
    version: count,
    digest: text,
    size: count,
    media_type: text,
    path: text.nullable(),
    file_id: text,
  }),
);
const briefPut = object({ name: text, version: count, replaced: count.nullable() });

export const work = {
  'task:list': object({ tasks: tasks.tasks, counts: tasks.counts, next_after: nextText }),
  'task:show': object({ task, files: z.array(boardFile), messages: z.array(message) }),
  'task:history': object({ task: texts.task, field: texts.field, versions: texts.versions }),
  'task:new': changed,
  'task:start': changed,
  'task:join': changed,
  'task:note': changed,
  'task:update': changed,
  'task:done': changed,
  'task:drop': changed,
  'line:show': lines,
  'line:working': lines,
  'line:paused': lines,
  'line:clear': lines,
  'file:list': object({ files: z.array(boardFile), next_after: nextText }),
  'file:show': object({ file: fileDetail }),
  'file:get': got,
  'file:put': put,
  'file:edit': put,
  'file:diff': object({ from: text, to: text, diff: text }),
  'file:approve': file,
  'file:unapprove': file,
  'file:rename': file,
  'file:update': file,
  'file:remove': file,
  'brief:show': object({ brief: z.unknown(), text: text.nullable() }),
  'brief:get': got,
  'brief:put': briefPut,
  'brief:edit': briefPut,
};
