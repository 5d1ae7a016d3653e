import { basename } from 'node:path';
import type { z } from 'zod';
import { booleanFlag, choiceFlag, optional, stringFlag, writeFlags } from '../../cli/flags.ts';
import type { Output } from '../../cli/output.ts';
import { quoted } from '../../cli/parsing/errors.ts';
import { called } from '../../cli/runtime.ts';
import type { ServerInUse } from '../../cli/session/board.ts';
import { atServer, stayingAt } from '../../cli/session/open-session.ts';
import { board, flag, member, object, text } from '../../cli/shapes.ts';
import { readWhole } from '../../cli/stdin.ts';
import { askText, mayAsk, missing } from '../../cli/terminal/prompts.ts';
import { patterns } from '../../contract/ids.ts';
import { slug } from '../../contract/text.ts';
import type { Board, BodyIn } from '../../contract/types.ts';
import { usage } from '../../local/failure.ts';
import { agreedText } from '../join/lib/join-summary.ts';
import { createHere, type Delegated } from './lib/delegated.ts';
import { DelegatedCommand } from './lib/delegated-command.ts';
import { linkIfUnlinked } from './lib/link-folder.ts';

export const json = () =>
  object({
    board_record: board,
    linked: flag,
    stays_linked: text.optional(),
    /** In a session: its seat there, and how messages reach it. */
    agent: member.optional(),
    mode: text.nullable().optional(),
    join_command: text,
  });

export default class BoardCreate extends DelegatedCommand<typeof BoardCreate> {
  static override aliases = ['board new'];
  static override summary = 'Create a board';
  static override description =
    'You own it. Without a name it asks for one at a terminal, and suggests that of the folder. A folder that is linked to no\nboard yet is linked to the new one, so that commands run there need no --board.';
  static override examples = [
    'service board create payments',
    'service board create payments --title "Payment rewrite" --private',
    'service board create review --template writer-reviewer',
  ];
  static override seeAlso = ['board templates', 'board link', 'agent create'];
  static override args = { name: optional('Name: small letters, digits and dashes') };
  static override flags = {
    title: stringFlag('TEXT', 'What it is about'),
    template: stringFlag('NAME', 'Start from a template (service board templates)'),
    private: booleanFlag('Only people who are added can see it'),
    preset: choiceFlag(['starter', 'recommended'], 'Policy to start with'),
    'charter-file': stringFlag('PATH|-', 'File with the charter'),
    'no-link': booleanFlag('Leave this folder as it is'),
    ...writeFlags,
  };

  override async run(): Promise<void> {
    const name = this.args.name ?? (await askName(this.out, this.noInput));
    const delegated = await this.delegated();
    if (delegated) return this.createInSession(delegated, name);
    const session = await this.session('D');
    const { client, server } = session;
    const reply = await client.call('createBoard', { body: await this.newBoard(name), idempotencyKey: this.key });
    const board = reply.data;
    const link = this.linked(board, session);
    const at = stayingAt(session);
    const join_command = `service agent create NAME --board ${board.name}${at}`;
    const record = { board_record: board, ...link, join_command };
    const again = this.again(reply);
    this.print<typeof json>(record, () => createdText(record, { url: server.url, at, again }));
  }

  /** Creates the board with a seat for the session this runs in. */
  private async createInSession(delegated: Delegated, name: string): Promise<void> {
    const { url } = delegated.server;
    const at = stayingAt({ choice: this.choice('D') });
    const seated = await createHere(delegated, { create: await this.newBoard(name), key: this.key, at });
    const { board_record: board, agent, mode } = seated;
    const join_command = `service join --board ${board.name}${at}`;
    this.print<typeof json>({ board_record: board, ...this.linked(board, delegated), agent, mode, join_command }, () =>
      [
        `Created board ${board.name} on ${url}. This session is ${agent.name} (${agent.role}).`,
        ...agreedText(seated),
        called(`Next: ${join_command} in another session`),
      ].join('\n'),
    );
  }

  /** The board as it is asked for. */
  private async newBoard(name: string): Promise<BodyIn<'createBoard'>> {
    const { title, template, preset, private: hidden, 'charter-file': charter } = this.flags;
    requireName(name, title);
    return {
      name,
      title,
      template,
      preset,
      charter: charter === undefined ? undefined : await readWhole(charter, this.out, 'a charter'),
      ...(hidden ? { visibility: 'private' as const } : {}),
    };
  }

  /** Links this folder to the new board, unless it is linked already. */
  private linked({ name }: Board, at: ServerInUse): { linked: boolean; stays_linked?: string } {
    this.out.base.board = name;
    return this.flags['no-link'] ? { linked: false } : linkIfUnlinked(at, name);
  }
}

/** The name for a board that was given none: asked for at a terminal, where Enter takes the name of this folder. */
async function askName(out: Output, noInput: boolean): Promise<string> {
  const folder = basename(process.cwd())
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replaceAll(/^-+|-+$/g, '');
  const suggested = folder.length < 2 ? 'general' : folder;
  if (!mayAsk(out, noInput)) throw missing('The name of the board', `service board create ${suggested}`);
  return (await askText('Name of the board', suggested)) || suggested;
}

/** A title is often taken for the name, which has no spaces and no capitals. */
function requireName(name: string, title: string | undefined): void {
  if (patterns.boardName.test(name)) return;
  const near = slug(name);
  const titled = title === undefined && near !== name.toLowerCase() ? ` --title ${quoted(name)}` : '';
  throw usage(
    `The name of a board has 2 to 40 small letters, digits and hyphens, with no hyphen at either end, but got "${name}".`,
    patterns.boardName.test(near) ? `service board create ${near}${titled}` : '',
  );
}

/** What was made, and what to do next. @param at flags that keep to its server */
function createdText(
  record: z.infer<ReturnType<typeof json>>,
  { url, at, again }: { url: string; at: string; again: string },
): string {
  const { board_record: board, linked, stays_linked: stays } = record;
  const title = board.title ? ` ("${board.title}")` : '';
  const seen = board.visibility === 'private' ? 'private' : 'open';
  const flag = linked ? atServer(url) : ` --board ${board.name}${at}`;
  return [
    `Created board ${board.name}${title} on ${url}, ${seen}. You own it.${again}`,
    linked ? `Linked this folder to ${board.name}.` : '',
    stays ? `This folder stays linked to ${stays === board.name ? 'the board of that name elsewhere' : stays}.` : '',
    board.policy.preset === 'starter'
      ? called(
          `Starter policy: everyone on the board reads everything; tighten with service board policy recommended${flag}`,
        )
      : '',
    called(`Next: service say${flag} "Hello", or a seat for an agent: ${record.join_command}`),
  ]
    .filter(Boolean)
    .join('\n');
}
