/** Runs the checks in parallel, each with a time limit. One that fails does not hide the others. */
import { asProblem } from '../../../cli/errors.ts';
import { runtime, version } from '../../../cli/runtime.ts';
import { Failure } from '../../../local/failure.ts';
import { readCredentials } from '../../../local/keys/credentials.ts';
import { type Around, type Check, type Finding, failing } from './check.ts';

const LIMIT_MS = 10_000;

export interface Diagnosis {
  checks: Finding[];
  /** What `--fix` changed, a line each. */
  fixed: string[];
}

/** Looks at everything. @param repair whether what can be mended without harm is mended first. */
export async function diagnose(all: readonly Check[], repair: boolean, limitMs = LIMIT_MS): Promise<Diagnosis> {
  const fixed: string[] = [];
  if (repair)
    for (const check of all) fixed.push(...((await check.repair?.(aroundNow(limitMs)).catch(() => [])) ?? []));
  // Read after the repair: a file that was open to others can be read now.
  const around = aroundNow(limitMs);
  const findings = await Promise.all(all.map((check) => finish(check, around)));
  return { checks: findings.flat(), fixed };
}

function aroundNow(limitMs: number): Around {
  const { folders, env } = runtime();
  return { folders, env, version: version(), now: Date.now, saved: savedOrNull(folders), limitMs };
}

function savedOrNull(folders: Around['folders']): Around['saved'] {
  try {
    return readCredentials(folders);
  } catch {
    return null;
  }
}

/** A check that fails is a finding, with what stopped it. */
async function finish(check: Check, around: Around): Promise<Finding[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const seconds = around.limitMs / 1000;
    timer = setTimeout(
      () => reject(new Failure('request_timeout', `It did not end within ${seconds} seconds.`)),
      // A check that keeps its own time ends before this.
      around.limitMs + 500,
    );
  });
  try {
    return await Promise.race([check.run(around), late]);
  } catch (error) {
    const { code, message, hint } = asProblem(error).body.error;
    return [failing(check.name, code, message, hint === '' ? null : hint)];
  } finally {
    clearTimeout(timer);
  }
}
