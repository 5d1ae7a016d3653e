/** Warns of secrets in what was typed. */
import type { Output } from '../../../../cli/output.ts';
import { plural } from '../../../../cli/terminal/fields.ts';
import type { Message } from '../../../../contract/types.ts';

/** Who typed a secret has to know of it: it may be in a log or a history too. */
export function warnOfSecrets({ redactions }: Message, out: Output): void {
  if (redactions.length === 0) return;
  const count = redactions.reduce((sum, one) => sum + one.count, 0);
  const what = `${plural(count, 'secret was', 'secrets were')} taken out of the text before it was kept`;
  out.warn(
    'secret_removed',
    `${what}: ${redactions.map(({ kind }) => kind).join(', ')}.`,
    'If others can have seen it, replace it where it was made; an access key of yours: service key revoke NAME',
  );
}
