import { BaseCommand, booleanFlag } from '../../cli/base.ts';
import { asProblem, checkFailed } from '../../cli/errors.ts';
import { called, runtime, version } from '../../cli/runtime.ts';
import { without } from '../../cli/session/here.ts';
import type { Paint } from '../../cli/terminal/color.ts';
import { plural } from '../../cli/terminal/fields.ts';
import { readable } from '../../cli/terminal/table.ts';
import { sleep } from '../../client/time.ts';
import { Failure } from '../../local/failure.ts';
import { readCredentials } from '../../local/keys/credentials.ts';
import { credentials, keychain } from './checks/credentials.ts';
import { daemon } from './checks/daemon.ts';
import { blobs, database } from './checks/data.ts';
import { folders } from './checks/folders.ts';
import { harnesses } from './checks/harnesses.ts';
import { journal } from './checks/journal.ts';
import { leftovers } from './checks/leftovers.ts';
import { disk, network, node } from './checks/machine.ts';
import { project } from './checks/project.ts';
import { seats } from './checks/seats.ts';
import { localServer, servers } from './checks/servers.ts';
import { type Around, type Check, type Finding, failing } from './lib/check.ts';
import { diagnosis } from './lib/shapes.ts';

export const json = () => diagnosis;

export default class Doctor extends BaseCommand<typeof Doctor> {
  static override readOnly = without('fix');
  static override summary = 'Look for what is wrong on this machine, and say how to mend it';
  static override description =
    "Starts nothing and changes nothing. Looks into the data of this machine's server too, or of the one in SERVICE_DATA, at\nthe daemon and what it could not deliver, and at the agent programs that are here or were set up. What is wrong comes\nwith a line that mends it. With --fix it closes files that are open to others, removes stale locks and refreshes what\ninit wrote and nobody has edited. Exit 3 when anything is an error.";
  static override examples = ['service doctor', 'service doctor --fix', 'service doctor --json'];
  static override seeAlso = ['status', 'storage check'];
  static override flags = { fix: booleanFlag('Mend first what can be mended without harm') };

  override async run(): Promise<void> {
    const found = await diagnose(this.flags.fix);
    this.print<typeof json>(found, () => diagnosisText(found, this.out.paint));
    const errors = found.checks.filter(({ level }) => level === 'error');
    if (errors.length > 0)
      throw checkFailed(this.out, `${errors.length} of ${found.checks.length} findings are errors.`);
  }
}

const LEVELS = ['ok', 'note', 'warning', 'error'] as const;

/** With how to mend it below each. */
function diagnosisText({ checks, fixed }: Diagnosis, paint: Paint): string {
  const colour = { ok: paint.dim, note: paint.dim, warning: paint.yellow, error: paint.red };
  const count = (level: (typeof LEVELS)[number]) => checks.filter((finding) => finding.level === level).length;
  return [
    ...fixed.map((line) => `fixed    ${line}`),
    ...checks.flatMap(({ level, name, code, message, fix }) => [
      ...readable(`${name}: ${called(message)}${code === null ? '' : ` (${code})`}`, 9).map(
        (line, i) => `${i === 0 ? colour[level](level.padEnd(7)) : ' '.repeat(7)}  ${line}`,
      ),
      ...(fix === null ? [] : [`         Fix: ${called(fix)}`]),
    ]),
    `${count('ok')} ok, ${count('note') === 0 ? '' : `${plural(count('note'), 'note', 'notes')}, `}${plural(count('warning'), 'warning', 'warnings')}, ${plural(count('error'), 'error', 'errors')}.`,
  ].join('\n');
}

/** In the order in which they are shown. */
const checks: readonly Check[] = [
  node,
  folders,
  leftovers,
  disk,
  credentials,
  keychain,
  network,
  localServer,
  servers,
  seats,
  daemon,
  journal,
  harnesses,
  database,
  blobs,
  project,
];

const LIMIT_MS = 10_000;

type Diagnosis = Awaited<ReturnType<typeof diagnose>>;

/**
 * Looks at everything. @param repair whether what can be mended without harm is mended first.
 * @returns `fixed`: what that changed, a line each
 */
async function diagnose(repair: boolean) {
  const fixed: string[] = [];
  if (repair) for (const check of checks) fixed.push(...((await check.repair?.(aroundNow()).catch(() => [])) ?? []));
  // Read after the repair: a file that was open to others can be read now.
  const around = aroundNow();
  const findings = await Promise.all(checks.map((check) => finish(check, around)));
  return { checks: findings.flat(), fixed };
}

function aroundNow(): Around {
  const { folders, env } = runtime();
  return { folders, env, version: version(), now: Date.now, saved: savedOrNull(folders), limitMs: LIMIT_MS };
}

function savedOrNull(folders: Around['folders']): Around['saved'] {
  try {
    return readCredentials(folders);
  } catch {
    return null;
  }
}

/** A sentence, with the command that follows it if one does. */
const SENTENCE = /^(?=[A-Z][a-z])(.+?)(?:: ((?:board-service|service|chmod|kill|mv|npm|rm|sudo) .+))?$/;

/** What cannot be run as it is, such as the hint of an error, goes with the message. */
function commandOnly(finding: Finding): Finding {
  const [, sentence, command = null] = SENTENCE.exec(finding.fix ?? '') ?? [];
  if (sentence === undefined) return finding;
  return { ...finding, message: `${finding.message} ${sentence.replace(/\.?$/, '.')}`, fix: command };
}

/** A check that fails is a finding, with what stopped it. */
async function finish(check: Check, around: Around): Promise<Finding[]> {
  // A check that keeps its own time ends before this.
  const late = sleep(around.limitMs + 500).then(() => {
    throw new Failure('request_timeout', `It did not end within ${around.limitMs / 1000} seconds.`);
  });
  try {
    return (await Promise.race([check.run(around), late])).map(commandOnly);
  } catch (error) {
    const { code, message, hint } = asProblem(error).body.error;
    return [commandOnly(failing(check.name, code, message, hint === '' ? null : hint))];
  }
}
