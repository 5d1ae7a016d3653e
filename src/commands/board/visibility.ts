import { choice, confirmFlags, WriteCommand } from '../../cli/base.ts';
import { answer, whole } from '../../cli/shapes.ts';
import { plural } from '../../cli/terminal/fields.ts';
import type { Answer } from '../../contract/types.ts';

export const json = () => whole(answer('setBoardVisibility'));

export default class BoardVisibility extends WriteCommand<typeof BoardVisibility> {
  static override boardFirst = true;
  static override summary = 'Turn a board open or private';
  static override description =
    'For owners. An open board is seen by everybody on the server, who may join it. Turned private, its people stay,\neverybody else loses sight of it, and its join codes stop. It is asked about with what it would reveal.';
  static override examples = [
    'service board visibility private --board payments',
    'service board visibility open --board payments --yes',
  ];
  static override seeAlso = ['board policy', 'board people', 'code list'];
  static override args = { visibility: choice('open or private', ['open', 'private']) };
  static override flags = { ...confirmFlags };

  override async run(): Promise<void> {
    const { client, board, server } = await this.onBoard('P');
    const { visibility } = this.args;
    const params = { board };
    const { data: ahead } = await client.call('setBoardVisibility', { params, body: { visibility, dry_run: true } });
    if (ahead.changed) await this.confirm(turnQuestion(ahead, server.url), this.flags.yes);
    const { data, again } = await this.write(client, 'setBoardVisibility', { params, body: { visibility } });
    this.print<typeof json>(data, () => `${turnedText(data, server.url)}${again}`);
  }
}

type Turned = Answer<'setBoardVisibility'>;

function turnQuestion({ board, after, reveals, join_codes_canceled: codes }: Turned, url: string): string {
  if (after === 'open') {
    const shown = [plural(reveals?.messages ?? 0, 'message', 'messages'), plural(reveals?.files ?? 0, 'file', 'files')];
    return `Open ${board} to everyone on ${url}? They may then join it and read ${shown.join(' and ')}.`;
  }
  const stop =
    codes === 0 ? '' : ` ${plural(codes, 'join code', 'join codes')} ${codes === 1 ? 'stops' : 'stop'} working.`;
  return `Make ${board} private? Only the people on it will see it.${stop}`;
}

export function turnedText({ board, after, changed, join_codes_canceled: codes }: Turned, url: string): string {
  if (!changed) return `${board} is ${after} already.`;
  if (after === 'open') return `${board} is now open to everyone on ${url}.`;
  return `${board} is now private. ${plural(codes, 'join code', 'join codes')} stopped.`;
}
