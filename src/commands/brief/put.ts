import { booleanFlag, integerFlag, required, WriteCommand } from '../../cli/base.ts';
import { staying } from '../../cli/session/open-session.ts';
import { shellArgument } from '../../contract/text.ts';
import { localFile } from '../file/lib/put.ts';
import { type Putting, putIfChanged } from '../file/lib/putting.ts';
import { filesOf } from '../file/lib/scope.ts';
import { briefQuery } from './lib/brief.ts';
import { briefPut } from './lib/shapes.ts';

export const json = () => briefPut;

export default class BriefPut extends WriteCommand<typeof BriefPut> {
  static override summary = 'Write the brief of a board';
  static override description =
    'It replaces the version that was got or put here last, and is refused if somebody wrote another since. The format is\ntold by the name: .md or .html; --replace-format changes it.';
  static override examples = [
    'service brief put brief.md',
    'service brief put brief.md --merge',
    'service brief put brief.html --replace-format',
  ];
  static override seeAlso = ['brief get', 'brief edit', 'file put'];
  static override args = { path: required('File on this machine') };
  static override flags = {
    base: integerFlag('N', 'Version it replaces; 0: it is new', { min: 0 }),
    'replace-format': booleanFlag('Take the place of the brief in the other format'),
    merge: booleanFlag('Put together what you and others wrote'),
  };

  override async run(): Promise<void> {
    const files = await filesOf(await this.onBoard('A'));
    const { path } = this.args;
    const { base, merge, 'replace-format': replaceFormat, 'idempotency-key': key } = this.flags;
    const { query, digest } = briefQuery(files, path, { base, replaceFormat });
    const putting: Putting = {
      files,
      local: await localFile(path),
      query,
      path,
      onConflict: merge ? 'merge' : 'fail',
      command: `service brief put ${shellArgument(path)}${staying(files.session)}`,
      key,
      times: this.times,
      out: this.out,
    };
    const { record, reply } = await putIfChanged(putting, digest);
    const { version, replaces, changed } = record;
    const { name } = record.file;
    const again = reply ? this.again(reply) : '';
    this.print<typeof json>({ name, version, replaced: changed && replaces > 0 ? replaces : null }, () =>
      changed ? `Saved ${name} v${version} on ${files.session.board}${again}` : `${name} is unchanged at v${version}.`,
    );
  }
}
