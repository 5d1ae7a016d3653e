import { z } from 'zod';
import { BaseCommand, booleanFlag } from '../../cli/base.ts';
import { checkFailed } from '../../cli/errors.ts';
import { called } from '../../cli/runtime.ts';
import { object, text } from '../../cli/shapes.ts';
import type { Paint } from '../../cli/terminal/color.ts';
import { plural } from '../../cli/terminal/fields.ts';
import { checks } from './lib/registry.ts';
import { type Diagnosis, diagnose } from './lib/run.ts';

export const json = () => {
  const check = z.strictObject({
    name: text,
    level: z.enum(['ok', 'note', 'warning', 'error']),
    code: text.nullable(),
    message: text,
    fix: text.nullable(),
  });
  return object({ checks: z.array(check), fixed: z.array(text) });
};

export default class Doctor extends BaseCommand<typeof Doctor> {
  static override readOnly = true;
  static override summary = 'Look for what is wrong on this machine, and say how to mend it';
  static override description =
    "Starts nothing and changes nothing. Looks into the data of this machine's server too, or of the one in SERVICE_DATA, at\nthe daemon and what it could not deliver, and at the agent programs that are here or were set up. What is wrong comes\nwith a line that mends it. With --fix it closes files that are open to others, removes stale locks and refreshes what\ninit wrote and nobody has edited. Exit 3 when anything is an error.";
  static override examples = ['service doctor', 'service doctor --fix', 'service doctor --json'];
  static override seeAlso = ['status', 'storage check'];
  static override flags = { fix: booleanFlag('Mend first what can be mended without harm') };

  override async run(): Promise<void> {
    const found = await diagnose(checks, this.flags.fix === true);
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
      `${colour[level](level.padEnd(7))}  ${name}: ${called(message)}${code === null ? '' : ` (${code})`}`,
      ...(fix === null ? [] : [`         Fix: ${called(fix)}`]),
    ]),
    `${count('ok')} ok, ${count('note') === 0 ? '' : `${plural(count('note'), 'note', 'notes')}, `}${plural(count('warning'), 'warning', 'warnings')}, ${plural(count('error'), 'error', 'errors')}.`,
  ].join('\n');
}
