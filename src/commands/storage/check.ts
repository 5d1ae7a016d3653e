import { z } from 'zod';
import { BaseCommand, storageFlags, stringFlag } from '../../cli/base.ts';
import { checkFailed } from '../../cli/errors.ts';
import { runtime } from '../../cli/runtime.ts';
import { count, object, text } from '../../cli/shapes.ts';
import { plural } from '../../cli/terminal/fields.ts';
import { progressOf } from '../../cli/terminal/progress.ts';
import { type Tools, withStorage } from './lib/storage.ts';

export const json = () =>
  object({ db: text, files: text, checked: count, missing: z.array(text), corrupt: z.array(text) });

export default class StorageCheck extends BaseCommand<typeof StorageCheck> {
  static override summary = "Check that every file version's bytes are there and whole";
  static override description =
    'For the owner of a server’s data folder; the server may be running. Nothing is changed. Exit 3 when anything is missing\nor damaged.';
  static override examples = ['service storage check', 'service storage check --data /srv/service --json'];
  static override seeAlso = ['storage copy', 'serve'];
  static override flags = { ...storageFlags, files: stringFlag('URL', 'Where the bytes are, if not in the folder') };

  override async run(): Promise<void> {
    const files = this.flags.files ?? (runtime().env.SERVICE_FILES || undefined);
    const progress = progressOf(this.out, 'files', (n) => String(Math.round(n)));
    const onStep = (done: number, total: number) => progress.at(done, total);
    const found = await withStorage(this.flags, this.globals.as, (tools, options) =>
      tools.checkStorage({ ...options, files }, { onStep }),
    ).finally(() => progress.end());
    const { db, files: kind, checked, bad } = found;
    const digests = (wanted: string) => bad.filter(({ state }) => state === wanted).map(({ digest }) => digest);
    const record = { db, files: kind, checked, missing: digests('missing'), corrupt: digests('corrupt') };
    this.print<typeof json>(record, () => storageText(found));
    if (bad.length > 0) throw checkFailed(this.out, `Bytes of ${bad.length} of the files are missing or damaged.`);
  }
}

type StorageFindings = Pick<Awaited<ReturnType<Tools['checkStorage']>>, 'checked' | 'bad'>;

/** Bytes that are missing or damaged, and which versions they belong to. */
function storageText({ checked, bad }: StorageFindings): string {
  const count = (wanted: string) => bad.filter(({ state }) => state === wanted).length || 'none';
  return [
    ...bad.map(({ digest, state, versions }) => {
      const whose = versions.map(({ board, name, version }) => `${name} v${version} on ${board}`).join(', ');
      return `${state === 'missing' ? 'missing' : 'damaged'}  ${digest}  ${whose}`;
    }),
    `${plural(checked, 'file version', 'file versions')} checked, ${count('missing')} missing, ${count('corrupt')} damaged.`,
  ].join('\n');
}
