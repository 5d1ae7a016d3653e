import { z } from 'zod';
import { BaseCommand, required, stringFlag } from '../../cli/base.ts';
import { checkFailed } from '../../cli/errors.ts';
import { runtime } from '../../cli/runtime.ts';
import { flag, object, text } from '../../cli/shapes.ts';
import { loadKit, type Verdict } from '../../harness/load-test-kit.ts';
import type { Profile } from '../../harness/profile.ts';
import { usage } from '../../local/failure.ts';
import { profileMeant } from './lib/testing.ts';

export const json = () =>
  object({
    harness: text,
    supported: flag,
    checks: z.array(
      z.strictObject({
        harness: text,
        version: text,
        check: text,
        result: z.enum(['pass', 'fail', 'n/a']),
        reason: text.optional(),
        at: text,
      }),
    ),
  });

export default class HarnessTest extends BaseCommand<typeof HarnessTest> {
  static override summary = 'Prove what is declared of an agent program, without an AI';
  static override description =
    'In folders of its own, with a server and daemon of its own, a stand-in for the program runs the very entries that\nservice init writes. Nothing of yours is touched. One line per check; exit 3 when one fails.';
  static override examples = [
    'service harness test claude-code --only idle',
    'service harness test codex --only init --json',
    'service harness test ./my-profile.json --only profile',
  ];
  static override seeAlso = ['init', 'doctor', 'run'];
  static override args = { profile: required('Name of a profile, or the path of one') };
  static override flags = { only: stringFlag('CHECK', 'Only this check') };

  override async run(): Promise<void> {
    const profile = await profileMeant(this.args.profile);
    const record = await testHarness(profile, this.flags.only, (line) => this.out.note(line));
    this.print<typeof json>(record, () => record.checks.map(verdictLine).join('\n'));
    const { checks } = record;
    const failed = checks.filter(({ result }) => result === 'fail').length;
    if (failed > 0) throw checkFailed(this.out, `${failed} of ${checks.length} checks failed.`);
  }
}

/** Runs the kit; each verdict is told as it comes. */
async function testHarness(profile: Profile, only: string | undefined, note: (line: string) => void) {
  const kit = await loadKit();
  if (only !== undefined && !kit.checks.includes(only))
    throw usage(`There is no check called ${only}.`, `There are: ${kit.checks.join(', ')}`);
  const program = [process.execPath, ...process.execArgv, runtime().program];
  const checks = await kit.run(profile, { program, only, onVerdict: (verdict) => note(verdictLine(verdict)) });
  return { harness: profile.harness, supported: kit.isSupported(checks), checks };
}

const verdictLine = ({ check, result, reason }: Verdict): string =>
  `${result.padEnd(4)}  ${check}${reason ? `  ${reason}` : ''}`;
