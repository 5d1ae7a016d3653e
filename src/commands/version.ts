import { BaseCommand } from '../cli/base.ts';
import { runtime } from '../cli/runtime.ts';
import { object, text } from '../cli/shapes.ts';
import { buildOf } from '../local/build.ts';

export const json = () =>
  object({
    version: text,
    commit: text.nullable().optional(),
    commit_time: text.nullable().optional(),
    node: text,
    platform: text,
  });

export default class Version extends BaseCommand<typeof Version> {
  static override readOnly = true;
  static override summary = 'Show the version of this program';
  static override description = 'Sends nothing and starts nothing.';
  static override examples = ['service version', 'service version --json'];
  static override seeAlso = ['server info'];

  override async run(): Promise<void> {
    const record = {
      ...buildOf(runtime().root),
      node: process.version,
      platform: `${process.platform}-${process.arch}`,
    };
    this.print<typeof json>(record, () => `service ${record.version} (node ${record.node}, ${record.platform})`);
  }
}
