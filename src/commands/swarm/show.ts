import { z } from 'zod';
import { BaseCommand, optional } from '../../cli/base.ts';
import { flag, object, text } from '../../cli/shapes.ts';
import { table } from '../../cli/terminal/table.ts';
import { isFolder } from '../../local/folders.ts';
import { programOf } from '../run/lib/programs.ts';
import { chooseSwarm, fileFlag, serverOf } from './lib/choose.ts';
import { argvOf } from './lib/command-lines.ts';
import { readSwarmFile, type SwarmFile } from './lib/file.ts';
import { daemonView, holderOf } from './lib/look.ts';
import { Launchers, linesOf, planned } from './lib/plan.ts';
import { heldSeats } from './lib/seats.ts';
import { mode } from './lib/shapes.ts';
import type { SwarmRecord } from './lib/state.ts';

export const json = () => {
  const agent = z.strictObject({
    name: text,
    harness: text,
    role: text.nullable(),
    model: text.nullable(),
    launcher: text,
    mode,
    dir: text,
    /** As it would be run anew; what it is told first stands as `{prompt}`. */
    argv: z.array(text),
    /** Whether the program is there. */
    installed: flag,
    seat: text.nullable(),
    /** The session that holds its seat, or held it last. */
    session: text.nullable(),
  });
  /** `at`: where it was started, or as its server is named. */
  return object({ swarm: text.nullable(), file: text, at: text.nullable(), agents: z.array(agent) });
};

export default class SwarmShow extends BaseCommand<typeof SwarmShow> {
  static override summary = 'Show what service.yaml comes to on this machine';
  static override description =
    'How each agent would be run, by which launcher, where, and whether its program and its seat are there. It reads the\nfile as strictly as swarm up does, and starts nothing.';
  static override examples = ['service swarm show', 'service swarm show --file team/service.yaml --json'];
  static override seeAlso = ['swarm up', 'swarm ps', 'harness test'];
  static override args = { swarm: optional('Name of the swarm, or of its board (default: that of service.yaml)') };
  static override flags = { ...fileFlag };

  override async run(): Promise<void> {
    await this.requirePerson();
    const chosen = await chooseSwarm(this.args.swarm ?? this.globals.board, this.flags.file, this.globals.server);
    const file = chosen.file ?? (await readSwarmFile(chosen.record!.file));
    const record = await showOf(file, chosen.record, this.globals.server);
    const text = await showText(record);
    this.print<typeof json>(record, () => text);
  }
}

type ShowRecord = z.infer<ReturnType<typeof json>>;

/** @param named of `--server` */
async function showOf(file: SwarmFile, record: SwarmRecord | null, named: string | undefined): Promise<ShowRecord> {
  const launchers = new Launchers();
  const agents = await planned(file, launchers);
  const seats = record ? heldSeats(record.server.server_id, record.board_id) : new Map();
  const status = await daemonView();
  // A file may name its board by the id.
  const board = record?.board ?? file.board;
  return {
    swarm: record?.name ?? null,
    file: file.path,
    board,
    at: record?.server.url ?? serverOf(file, named) ?? null,
    agents: agents.map((agent) => {
      const { name, profile, role = null, model = null, launcher, mode, dir } = agent;
      const seat: string | null = seats.get(name)?.memberId ?? null;
      const words = linesOf(agent);
      const argv = argvOf(agent, { seat: `${name}@${board}`, prompt: '{prompt}', session: null });
      const installed = programOf(words[0] ?? '') !== null;
      const session = holderOf(status, seat ?? undefined)?.session ?? record?.agents[name]?.session ?? null;
      return { name, harness: profile.harness, role, model, launcher, mode, dir, argv, installed, seat, session };
    }),
  };
}

async function showText({ swarm, file, board, at, agents }: ShowRecord): Promise<string> {
  const rows = agents.map(({ name, harness, role, launcher, mode, installed, seat, dir }) => [
    name,
    `${harness}${installed ? '' : ' (not installed)'}`,
    role ?? '',
    launcher === mode ? mode : `${launcher}, ${mode}`,
    seat ? 'yes' : 'not yet',
    isFolder(dir) ? dir : `${dir} (not there)`,
  ]);
  const heads = ['NAME', 'PROGRAM', 'ROLE', 'LAUNCHER', 'SEAT', 'FOLDER'];
  return [`${swarm ?? board}${at ? ` on ${at}` : ''} · ${agents.length} · ${file}`, ...(await table(heads, rows))].join(
    '\n',
  );
}
