import { z } from 'zod';
import { BaseCommand, booleanFlag, words } from '../cli/base.ts';
import { checkFailed } from '../cli/errors.ts';
import { afterRefusal } from '../cli/session/ended-key.ts';
import type { Session } from '../cli/session/open-session.ts';
import { sessionSeats } from '../cli/session/own-seats.ts';
import { answer, object, text } from '../cli/shapes.ts';
import { ClientError } from '../client/errors.ts';
import type { Claim } from '../contract/types.ts';
import { Failure, usage } from '../local/failure.ts';
import { type Repository, stagedFiles } from '../local/repository.ts';
import { claimText, fileHere, globsAmong, notCompared, onFiles, othersIn, repositoryHere } from './line/lib/claims.ts';

export const json = () => {
  const agents = answer('listClaims').shape.claims;
  return object({ repo: text.nullable(), files: z.array(z.strictObject({ path: text, agents })) });
};

export default class Who extends BaseCommand<typeof Who> {
  static override readOnly = true;
  static override summary = 'Say which other agents are on these files';
  static override description =
    "By the paths of their lines, on your boards, an agent's on its own, in this folder's repository. Exit code 3 if somebody is, so that\na hook of git can ask; agents of your own count, except the one that asks. A glob may be given in quotes.";
  static override examples = [
    'service who src/http.ts',
    "service who 'src/retry/**' --as codex",
    'service who --staged',
  ];
  static override seeAlso = ['line working', 'init'];
  static override args = { path: words('Files, folders or globs') };
  static override flags = { staged: booleanFlag('The files that the next commit changes') };

  override async run(): Promise<void> {
    const given = [this.args.path ?? []].flat();
    if (given.length > 0 === (this.flags.staged === true))
      throw usage(
        'Name files, or say --staged.',
        'service who src/http.ts; what each agent is on: service board agents',
      );
    const repository = await repositoryHere();
    const paths = this.flags.staged ? await staged() : given.map((path) => fileHere(repository.root, path));
    const { name } = repository;
    const none = { claims: [], failure: undefined };
    const { claims, failure } = paths.length === 0 || name === null ? none : await this.claims(repository);
    const globs = this.flags.staged ? new Set<string>() : globsAmong(repository.root, paths);
    const { files, whole } = onFiles(claims, paths, globs);
    const taken = files.filter(({ agents }) => agents.length > 0);
    if (taken.length === 0 && failure) throw failure;
    if (!whole) this.out.warn('not_all_compared', NOT_ALL, 'Name fewer files: service who src/http.ts');
    this.print<typeof json>({ repo: name, files }, () => {
      const lines = taken.flatMap(({ path, agents }) => agents.map((each) => claimText(path, each, this.times)));
      if (lines.length > 0) return lines.join('\n');
      if (name === null) return `Nobody else is known to be on it: ${notCompared}`;
      return whole
        ? 'Nobody else is on it.'
        : 'Nobody else is known to be on it: not every line was compared with every file.';
    });
    if (taken.length > 0) throw checkFailed(this.out, 'Somebody else is on one of these files.');
  }

  /** A session with several seats sees what each of them sees. @returns with the error of the last one that could not ask */
  private async claims(repository: Repository): Promise<{ claims: Claim[]; failure?: Error | undefined }> {
    const { as, board } = this.globals;
    const seats = as === undefined && board === undefined ? await sessionSeats() : [];
    if (seats.length < 2) return { claims: await othersIn(await this.client('A'), repository) };
    const own = new Set(seats.map(({ memberId }) => memberId));
    const found = new Map<string, Claim>();
    let failure: Error | undefined;
    for (const seat of seats) {
      let session: Session | null = null;
      try {
        session = await this.session('G', { seat });
        for (const claim of await othersIn(session.client, repository))
          if (!own.has(claim.member_id)) found.set(claim.member_id, claim);
      } catch (error) {
        if (!(error instanceof Failure || error instanceof ClientError)) throw error;
        await afterRefusal(error, session, this.out);
        failure = error;
        const { code, message, hint } = error;
        this.out.warn(code, `${seat.saved.name} on ${seat.saved.board} could not ask: ${message}`, hint);
      }
    }
    // The answer is of several seats, so it names none as the one that acts.
    delete this.out.base.actor;
    return { claims: [...found.values()], failure };
  }
}

const NOT_ALL = 'Not every line was compared with every file: it takes too long.';

async function staged(): Promise<string[]> {
  const files = await stagedFiles(process.cwd());
  if (files === null) throw usage('git does not tell what is staged here.', 'Run it inside a repository');
  return files;
}
