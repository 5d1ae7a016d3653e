/** Describes problems in a `service.yaml`. */
import type { z } from 'zod';
import { nearestNames } from '../../../cli/parsing/spelling.ts';

export interface Problem {
  line: number;
  message: string;
}

interface Known {
  swarm: z.ZodObject;
  agent: z.ZodObject;
}

/** One for each place, with its line. @param value what the file holds */
export function fileProblems(
  issues: readonly z.core.$ZodIssue[],
  value: unknown,
  known: Known,
  lineOf: (path: PropertyKey[]) => number,
): Problem[] {
  return issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys')
      return [{ line: lineOf(issue.path), message: `${placeOf(issue.path)} ${inWords(issue, at(value, issue.path))}` }];
    const names = Object.keys((issue.path.length === 0 ? known.swarm : known.agent).shape);
    return issue.keys.map((key) => {
      const path = [...issue.path, key];
      return { line: lineOf(path), message: `${placeOf(path)} is not known; ${meant(key, names)}` };
    });
  });
}

/** "Did you mean …?" with the most similar name, else a list of all names. */
export function meant(typed: string, names: readonly string[]): string {
  const begun = names.filter((name) => typed.length > 2 && name.startsWith(typed));
  const found = nearestNames(typed, names)[0] ?? begun[0];
  return found ? `did you mean ${found}?` : `known are ${names.join(', ')}`;
}

function inWords(issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.code !== 'invalid_type') return issue.message;
  if (value === undefined || value === null) return 'is missing';
  if (issue.expected === 'string') return 'must be text; write it in quotes';
  if (issue.expected === 'array') return 'must be a list, each entry after a dash';
  return 'must be fields and values';
}

const placeOf = (path: readonly PropertyKey[]): string =>
  path.length === 0
    ? 'the file'
    : path.map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i > 0 ? '.' : ''}${String(key)}`)).join('');

const at = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((part, key) => (part as Record<PropertyKey, unknown> | null | undefined)?.[key], value);
