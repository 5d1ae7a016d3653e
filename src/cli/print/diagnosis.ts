/** What checks of this machine found, as text: a line for each, the counts at the end. */

import type { Diagnosis } from '../../commands/doctor/lib/run.ts';
import type { Paint } from '../color.ts';
import type { Tools as StorageTools } from '../local/storage.ts';
import { called } from '../runtime.ts';
import { plural } from './fields.ts';

const LEVELS = ['ok', 'note', 'warning', 'error'] as const;

/** With how to mend it below each. */
export function diagnosisText({ checks, fixed }: Diagnosis, paint: Paint): string {
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

type StorageFindings = Pick<Awaited<ReturnType<StorageTools['checkStorage']>>, 'checked' | 'bad'>;

/** Bytes that are missing or damaged, and which versions they belong to. */
export function storageText({ checked, bad }: StorageFindings): string {
  const count = (wanted: string) => bad.filter(({ state }) => state === wanted).length || 'none';
  return [
    ...bad.map(({ digest, state, versions }) => {
      const whose = versions.map(({ board, name, version }) => `${name} v${version} on ${board}`).join(', ');
      return `${state === 'missing' ? 'missing' : 'damaged'}  ${digest}  ${whose}`;
    }),
    `${checked} file versions checked, ${count('missing')} missing, ${count('corrupt')} damaged.`,
  ].join('\n');
}
