/** The JSON of each command, by the command's id: what `schemas/cli` is made from and what tests hold real output against. */
import type { z as Zod } from 'zod';
import { z } from 'zod';
import { failure } from './base.ts';
import { boards } from './boards.ts';
import { machine } from './machine.ts';
import { messageShapes } from './messages.ts';
import { people } from './people.ts';
import { swarm } from './swarm.ts';
import { work } from './work.ts';

/** Of a command that prints a stream, the shape of one line. */
export const shapes: Record<string, Zod.ZodType> = {
  ...boards,
  ...messageShapes,
  ...work,
  ...people,
  ...machine,
  ...swarm,
};

/** Commands whose output is no JSON, or that of another program. */
export const withoutShape = [
  'complete',
  'daemon:logs',
  'daemon:run',
  'harness:fake',
  'hook',
  'openapi',
  'serve',
  'server:logs',
];

/** What every command prints with `--json` when it fails. */
export const failureShape = z.strictObject({ error: failure });
