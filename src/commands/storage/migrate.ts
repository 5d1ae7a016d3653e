import { z } from 'zod';
import { BaseCommand, booleanFlag, storageFlags } from '../../cli/base.ts';
import { called } from '../../cli/runtime.ts';
import { object, text } from '../../cli/shapes.ts';
import { withStorage } from './lib/storage.ts';

export const json = () => object({ from: text.nullable(), to: text, applied: z.array(text) });

export default class StorageMigrate extends BaseCommand<typeof StorageMigrate> {
  static override summary = "Bring a stopped server's database to this build's schema";
  static override description =
    'A start does the same by itself, unless it is told --no-migrate. The server must be stopped, but for --status. Data of a\nnewer build is refused and left as it is.';
  static override examples = ['service storage migrate --status', 'service storage migrate --data /srv/service'];
  static override seeAlso = ['serve', 'server stop', 'storage check'];
  static override flags = { ...storageFlags, status: booleanFlag('Only say how it stands') };

  override async run(): Promise<void> {
    const { status = false } = this.flags;
    const record = await withStorage(this.flags, this.globals.as, ({ migrateStorage }, options) =>
      migrateStorage(options, status),
    );
    const { from, to, applied } = record;
    this.print<typeof json>(record, () => {
      if (applied.length > 0) return `Applied ${applied.join(', ')}.`;
      if (from === to) return `The database is at ${to}, the newest this build knows.`;
      return called(`The database is at ${from ?? 'its beginning'}, before ${to}: service storage migrate`);
    });
  }
}
