import { z } from 'zod';
import { BaseCommand, requiredFlag, storageFlags } from '../../cli/base.ts';
import { checkFailed } from '../../cli/errors.ts';
import { count, object, text } from '../../cli/shapes.ts';
import { withStorage } from './lib/storage.ts';

export const json = () => object({ copied: count, skipped: count, failed: z.array(text) });

export default class StorageCopy extends BaseCommand<typeof StorageCopy> {
  static override summary = 'Copy the bytes of all files to another store';
  static override description =
    'Every copy is compared with its digest. It may be run again: what is there and whole is left. Start the server with\n--files afterwards.';
  static override examples = [
    'service storage copy --from disk:///srv/service/files --to "s3://bucket/files?region=eu-west-1"',
  ];
  static override seeAlso = ['storage check', 'serve'];
  static override flags = {
    ...storageFlags,
    from: requiredFlag('URL', 'Where the bytes are'),
    to: requiredFlag('URL', 'Where they go'),
  };

  override async run(): Promise<void> {
    const { from, to } = this.flags;
    const result = await withStorage(this.flags, this.globals.as, (tools, options) =>
      tools.copyStorage({ ...options, from, to }),
    );
    const { copied, skipped, failed } = result;
    this.print<typeof json>(result, () =>
      [
        ...failed.map((digest) => `not copied  ${digest}`),
        `Copied ${copied}, ${skipped} were there already, ${failed.length} could not be copied.`,
      ].join('\n'),
    );
    const all = copied + skipped + failed.length;
    if (failed.length > 0) throw checkFailed(this.out, `${failed.length} of ${all} files could not be copied.`);
  }
}
