import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../../cli/base.ts';
import { Exit } from '../../cli/errors.ts';
import { EXIT } from '../../cli/exit.ts';
import { storageFlags } from '../../cli/flags.ts';
import { runtime } from '../../cli/runtime.ts';
import { withStorage } from '../../cli/storing.ts';

export default class StorageCheck extends BaseCommand<typeof StorageCheck> {
  static override summary = "Check that every file version's bytes are there and whole";
  static override description =
    'For whoever has the data folder of a server; it may be running. Nothing is changed. Exit 3 when anything is missing\nor damaged.';
  static override examples = ['service storage check', 'service storage check --data /srv/service --json'];
  static override seeAlso = ['storage copy', 'serve'];
  static override flags = {
    ...storageFlags,
    files: Flags.string({ helpValue: 'URL', description: 'Where the bytes are, if not in the folder' }),
  };

  override async run(): Promise<void> {
    const files = this.flags.files ?? (runtime().env.SERVICE_FILES || undefined);
    const found = await withStorage(this.flags, this.globals.as, (tools, options) =>
      tools.checkStorage({ ...options, files }),
    );
    const { checked, missing, corrupt } = found;
    const count = (list: string[]) => (list.length === 0 ? 'none' : String(list.length));
    this.out.print(found, () =>
      [
        ...missing.map((digest) => `missing  ${digest}`),
        ...corrupt.map((digest) => `damaged  ${digest}`),
        `${checked} file versions checked, ${count(missing)} missing, ${count(corrupt)} damaged.`,
      ].join('\n'),
    );
    if (missing.length + corrupt.length > 0) throw new Exit(EXIT.checkFailed);
  }
}
