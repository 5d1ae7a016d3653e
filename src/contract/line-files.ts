/** The files that a line says it is about, and other agents' lines that can mean one of them. */
import { z } from 'zod';
import { globProblem } from './globs.ts';
import { LONGEST_NAME, repoName, withoutCredentials } from './repo-name.ts';
import { boardName, id, memberName, text, time } from './schemas.ts';

const glob = z.string().superRefine((value, context) => {
  const message = globProblem(value);
  if (message !== null) context.addIssue({ code: 'custom', message });
});

/** An address loses its user and password before anything sees it. */
const repo = text(2_048, 1)
  .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, 'must have no control characters')
  .transform((value) => repoName(value) ?? withoutCredentials(value))
  .pipe(text(LONGEST_NAME));

export const lineFiles = {
  /** Which files it is about, in the dialect of picomatch, relative to the repository. A plan without keeps those there are. */
  paths: z.array(glob).min(1).max(20).optional(),
  /** The repository: its address without credentials, or its first commit. */
  repo: repo.optional(),
};

/** Another agent's line that can mean a same file. */
export const lineOverlap = z.strictObject({
  agent: memberName,
  member_id: id('mem'),
  board: boardName,
  path: z.string(),
  line: z.string(),
  since: time,
});
