/** The JSON shapes of commands, for `schemas/cli` and for tests of real output. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { failure } from '../src/cli/shapes.ts';
import { commandFiles } from './commands.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const files = commandFiles(root);
const loaded = new Map<string, Promise<z.ZodType | null>>();

/**
 * The shape that a command exports as `json`; of a command that prints a stream, of one line. Null for a command whose output
 * is no JSON, or that of another program.
 */
export function shapeOf(id: string): Promise<z.ZodType | null> {
  // Cached, because a shape may be registered under its name only once.
  if (!loaded.has(id)) loaded.set(id, load(id));
  return loaded.get(id)!;
}

async function load(id: string): Promise<z.ZodType | null> {
  const { json } = (await import(join(root, 'src', 'commands', files[id]!))) as { json?: () => z.ZodType };
  return json?.() ?? null;
}

/** The shapes of all commands that have one, by id. */
export async function allShapes(): Promise<Record<string, z.ZodType>> {
  const shapes = await Promise.all(Object.keys(files).map(async (id) => [id, await shapeOf(id)] as const));
  return Object.fromEntries(shapes.filter((entry): entry is [string, z.ZodType] => entry[1] !== null));
}

/** What every command prints with `--json` when it fails. */
export const failureShape = z.strictObject({ error: failure });
