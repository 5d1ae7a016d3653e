/** Creates a board from the flags of `board create`. */
import { basename } from 'node:path';
import type { Output } from '../../../cli/output.ts';
import { quoted } from '../../../cli/parsing/errors.ts';
import { called } from '../../../cli/runtime.ts';
import type { Session } from '../../../cli/session/open-session.ts';
import { readWhole } from '../../../cli/stdin.ts';
import { askText, mayAsk, missing } from '../../../cli/terminal/prompts.ts';
import type { Reply } from '../../../client/answer.ts';
import { patterns } from '../../../contract/ids.ts';
import { slug } from '../../../contract/slug.ts';
import type { Board, BodyIn } from '../../../contract/types.ts';
import { usage } from '../../../local/failure.ts';
import { agreedText } from '../../join/lib/join-summary.ts';
import { createHere, type Delegated } from './delegated.ts';
import { linkIfUnlinked } from './link-folder.ts';

interface CreateOptions {
  name: string;
  title?: string | undefined;
  template?: string | undefined;
  private?: boolean;
  preset?: string | undefined;
  'charter-file'?: string | undefined;
  'no-link'?: boolean;
  'idempotency-key'?: string | undefined;
}

interface CreatedRecord {
  board_record: Board;
  linked: boolean;
  stays_linked?: string;
  join_command: string;
}

/** The name for a board that was given none: asked for at a terminal, where Enter takes the name of this folder. */
export async function askName(out: Output, noInput: boolean): Promise<string> {
  const folder = basename(process.cwd())
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replaceAll(/^-+|-+$/g, '');
  const suggested = folder.length < 2 ? 'general' : folder;
  if (!mayAsk(out, noInput)) throw missing('The name of the board', `service board create ${suggested}`);
  return (await askText('Name of the board', suggested)) || suggested;
}

/** Creates the board and links this folder to it. */
export async function createBoard(
  { client, server }: Session,
  options: CreateOptions,
  out: Output,
): Promise<{ record: CreatedRecord; reply: Reply<Board> }> {
  const reply = await client.call('createBoard', {
    body: await newBoard(options, out),
    idempotencyKey: options['idempotency-key'],
  });
  const board = reply.data;
  out.base.board = board.name;
  const link = options['no-link'] ? { linked: false } : linkIfUnlinked(server.url, board.name);
  const record = { board_record: board, ...link, join_command: `service agent create <name> --board ${board.name}` };
  return { record, reply };
}

/** The board as it is asked for. */
async function newBoard(options: CreateOptions, out: Output): Promise<BodyIn<'createBoard'>> {
  requireName(options);
  return {
    name: options.name,
    title: options.title,
    template: options.template,
    preset: preset(options.preset),
    charter: await charter(options['charter-file'], out),
    ...(options.private ? { visibility: 'private' as const } : {}),
  };
}

/** A title is often taken for the name, which has no spaces and no capitals. */
function requireName({ name, title }: CreateOptions): void {
  if (patterns.boardName.test(name)) return;
  const near = slug(name);
  const titled = title === undefined && near !== name.toLowerCase() ? ` --title ${quoted(name)}` : '';
  throw usage(
    `The name of a board has 2 to 40 small letters, digits and hyphens, with no hyphen at either end, but got "${name}".`,
    patterns.boardName.test(near) ? `service board create ${near}${titled}` : '',
  );
}

/** Creates the board with a seat for the session this runs in. */
export async function createInSession(delegated: Delegated, options: CreateOptions, out: Output) {
  const create = await newBoard(options, out);
  const seated = await createHere(delegated, { create, key: options['idempotency-key'] });
  const { board_record: board, agent } = seated;
  out.base.board = board.name;
  const link = options['no-link'] ? { linked: false } : linkIfUnlinked(delegated.server.url, board.name);
  const { mode } = seated;
  const record = { board_record: board, ...link, agent, mode, join_command: `service join --board ${board.name}` };
  return {
    record,
    text: () =>
      [
        `Created board ${board.name} on ${delegated.server.url}. This session is ${agent.name} (${agent.role}).`,
        ...agreedText(seated),
        called(`Next: ${record.join_command} in another session`),
      ].join('\n'),
  };
}

/** What was made, and what to do next. */
export function createdText(record: CreatedRecord, url: string, again: string): string {
  const { board_record: board, linked, stays_linked: stays } = record;
  const title = board.title ? ` ("${board.title}")` : '';
  const seen = board.visibility === 'private' ? 'private' : 'open';
  const flag = linked ? '' : ` --board ${board.name}`;
  return [
    `Created board ${board.name}${title} on ${url}, ${seen}. You own it.${again}`,
    linked ? `Linked this folder to ${board.name}.` : '',
    stays ? `This folder stays linked to ${stays}.` : '',
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

function preset(name: string | undefined): 'starter' | 'recommended' | undefined {
  if (name === undefined || name === 'starter' || name === 'recommended') return name;
  throw usage(`--preset takes starter or recommended, but got "${name}".`);
}

async function charter(path: string | undefined, out: Output): Promise<string | undefined> {
  if (path === undefined) return undefined;
  return readWhole(path, out, 'a charter');
}
