import { booleanFlag, integerFlag, optional, required, stringFlag, tagFlags, WriteCommand } from '../../cli/base.ts';
import { staying } from '../../cli/session/open-session.ts';
import { shellArgument } from '../../contract/text.ts';
import { putQuery, type Source, sourceOf } from './lib/options.ts';
import { type Local, localFile, spooled } from './lib/put.ts';
import { putIfChanged } from './lib/putting.ts';
import { type Files, filesOf } from './lib/scope.ts';
import { putFile } from './lib/shapes.ts';

export const json = () => putFile;

export default class FilePut extends WriteCommand<typeof FilePut> {
  static override summary = 'Put a file onto a board, or a new version of one';
  static override description =
    'It replaces the version that was got or put here last, and is refused if somebody wrote another since: --merge puts\nboth together, --replace takes whatever is there. Everybody on the board can read it at once.';
  static override examples = [
    'service file put notes.md --name notes/api.md',
    'service file put api.md --merge',
    'make report | service file put report.md - --replace',
  ];
  static override seeAlso = ['file get', 'file diff', 'brief put', 'board post'];
  static override args = {
    path: required('File on this machine; - is standard input'),
    stdin: optional('With - the first is a path on the board, and the file is piped in'),
  };
  static override flags = {
    name: stringFlag('PATH', 'Path on the board', { char: 'm' }),
    base: integerFlag('N', 'Version it replaces; 0: it is new', { min: 0 }),
    ...tagFlags,
    'media-type': stringFlag('TYPE', 'What it is; else told by its name'),
    merge: booleanFlag('Put together what you and others wrote'),
    replace: booleanFlag('Replace whatever is there', { exclusive: ['merge', 'base'] }),
  };

  override async run(): Promise<void> {
    const { path, name } = sourceOf(this.args, this.flags.name);
    const files = await filesOf(await this.onBoard('A'));
    if (path === '-') await spooled(this.out, (local) => this.send(files, local, { path, name }));
    else await this.send(files, await localFile(path), { path, name });
  }

  private async send(files: Files, local: Local, { path, name }: Source): Promise<void> {
    const { query, digest } = putQuery(files, path, { ...this.flags, name });
    const { merge, replace, 'idempotency-key': key } = this.flags;
    const onConflict = replace ? 'replace' : merge ? 'merge' : 'fail';
    const named = name === undefined ? '' : ` --name ${shellArgument(name)}`;
    const typed = path === '-' ? `${shellArgument(query.name)} -` : `${shellArgument(path)}${named}`;
    const command = `service file put ${typed}${staying(files.session)}`;
    const place = { path: path === '-' ? null : path, onConflict, command, key } as const;
    const putting = { files, local, query, ...place, times: this.times, out: this.out };
    const { record, reply } = await putIfChanged(putting, digest);
    const again = reply ? this.again(reply) : '';
    this.print<typeof json>(record, () =>
      reply
        ? `Saved ${record.file.name} v${record.version} on ${files.session.board}${again}`
        : `${query.name} is unchanged at v${record.version}.`,
    );
  }
}
