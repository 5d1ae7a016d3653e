import { z } from 'zod';
import { booleanFlag, listFlags } from '../../cli/flags.ts';
import { type Session, stayingAt } from '../../cli/session/open-session.ts';
import { answer, count, object, serverGroup } from '../../cli/shapes.ts';
import { answered, askEveryServer, groupTexts } from '../servers/lib/every-server.ts';
import { readBoardsHere } from './lib/delegated.ts';
import { DelegatedCommand } from './lib/delegated-command.ts';
import { type BoardListOptions, boardListText, joinedLists, readBoards } from './lib/list.ts';
import { listedBoard } from './lib/shapes.ts';

export const json = () => {
  const lists = answer('listBoards').shape;
  const list = {
    boards: z.array(listedBoard),
    hidden_boards: z.array(lists.hidden_boards.unwrap().element),
    archived_count: count,
  };
  return object({ ...list, servers: z.array(serverGroup(list)).optional() });
};

export default class BoardList extends DelegatedCommand<typeof BoardList> {
  static override readOnly = true;
  static override aliases = ['boards'];
  static override summary = 'List your boards';
  static override description =
    'The active boards you are on; --all adds those you could join and, for a server admin, the hidden ones: private\nboards of others, by their ids. --archived shows the archive.';
  static override examples = ['service board list', 'service boards --all', 'service board list --all-servers --json'];
  static override seeAlso = ['board create', 'board show'];
  static override flags = {
    all: booleanFlag('Also boards you are not on', { char: 'A' }),
    archived: booleanFlag('Archived boards instead'),
    'all-servers': booleanFlag('On every server this machine knows'),
    ...listFlags,
  };

  override async run(): Promise<void> {
    const { all, archived } = this.flags;
    const options = { all, archived, text: this.out.mode === 'text' && !this.out.quiet };
    if (this.flags['all-servers']) return this.everywhere(options);
    const delegated = await this.delegated();
    const session = delegated ?? (await this.session('A'));
    const record = delegated
      ? await readBoardsHere(delegated, archived)
      : await readBoards(session as Session, options);
    if (this.out.listed(record.boards)) return;
    const text = await boardListText(record, {
      url: session.server.url,
      at: stayingAt({ choice: this.choice('A') }),
      ofArchive: archived,
    });
    this.print<typeof json>(record, () => text);
  }

  private async everywhere(options: BoardListOptions): Promise<void> {
    await this.requirePerson();
    const servers = await askEveryServer(
      (name) => this.sessionAt(name),
      (session) => readBoards(session, options),
      this.out,
    );
    const record = joinedLists(answered(servers));
    if (this.out.listed(record.boards)) return;
    const text = await groupTexts(servers, (lists, { name, url }) =>
      boardListText(lists, { url, at: ` --server ${name}`, ofArchive: options.archived }),
    );
    this.print<typeof json>({ ...record, servers }, () => text);
  }
}
