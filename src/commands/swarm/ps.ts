import { z } from 'zod';
import { BaseCommand, listFlags, optional } from '../../cli/base.ts';
import { object, text } from '../../cli/shapes.ts';
import { table } from '../../cli/terminal/table.ts';
import { showTime, type TimeStyle } from '../../cli/terminal/time.ts';
import { type Chosen, chooseSwarm, fileFlag, startedOf } from './lib/choose.ts';
import { daemonView, holderOf, lookAt, standing, stands } from './lib/look.ts';
import { Launchers, planned } from './lib/plan.ts';
import { heldSeats } from './lib/seats.ts';
import { agent } from './lib/shapes.ts';

/** `swarm`: null where nothing of it was ever started here. */
export const json = () =>
  object({ swarm: text.nullable(), file: text, agents: z.array(agent.extend({ started_at: text.nullable() })) });

export default class SwarmPs extends BaseCommand<typeof SwarmPs> {
  static override summary = 'Show how the agents of a swarm stand';
  static override description =
    'What their launchers say, whether a session holds their seats, and how to look at each. Starts nothing. A launcher that\ncannot tell counts its agent as running.';
  static override examples = ['service swarm ps', 'service swarm ps payments', 'service swarm ps --ndjson'];
  static override seeAlso = ['swarm up', 'swarm list', 'daemon status', 'agents'];
  static override args = { swarm: optional('Name of the swarm, or of its board (default: that of service.yaml)') };
  static override flags = { ...fileFlag, ...listFlags };

  override async run(): Promise<void> {
    await this.requirePerson();
    const chosen = await chooseSwarm(this.args.swarm ?? this.globals.board, this.flags.file, this.globals.server);
    const record = await psOf(chosen);
    const board = chosen.record?.board ?? chosen.file?.board;
    if (board) this.out.base.board = board;
    if (this.out.listed(record.agents)) return;
    const text = await psText(record, this.times);
    this.print<typeof json>(record, () => text);
  }
}

type PsRecord = z.infer<ReturnType<typeof json>>;

/** Those of the file, then those that were started from it once and are no longer in it. */
async function psOf(chosen: Chosen): Promise<PsRecord> {
  const { file, record } = chosen;
  const launchers = new Launchers();
  const status = await daemonView();
  const wanted = file ? await planned(file, launchers) : [];
  const seats = record ? heldSeats(record.server.server_id, record.board_id) : new Map();
  const names = [...new Set([...wanted.map(({ name }) => name), ...Object.keys(startedOf(chosen))])];
  const agents = names.map(async (name) => {
    const plan = wanted.find((agent) => agent.name === name);
    const own = record?.agents[name] ?? null;
    const seat: string | null = own?.member_id ?? seats.get(name)?.memberId ?? null;
    const holder = holderOf(status, seat ?? undefined);
    const look = await lookAt({ launchers, swarm: record?.name ?? '', name, started: own, holder });
    return {
      name,
      harness: own?.harness ?? plan!.profile.harness,
      launcher: own?.launcher ?? plan!.launcher,
      mode: own?.mode ?? plan!.mode,
      seat,
      ...standing(look),
      attach: own?.handle == null ? null : own.attach,
      started_at: own?.handle == null ? null : own.started_at,
    };
  });
  return { swarm: record?.name ?? null, file: file?.path ?? record!.file, agents: await Promise.all(agents) };
}

async function psText({ swarm, file, agents }: PsRecord, times: TimeStyle): Promise<string> {
  const rows = agents.map((agent) => [
    agent.name,
    agent.harness,
    agent.launcher,
    stands(agent),
    agent.started_at ? showTime(agent.started_at, times) : '',
    agent.attach ?? '',
  ]);
  const heads = ['NAME', 'PROGRAM', 'LAUNCHER', 'STATE', 'STARTED', 'LOOK AT IT'];
  return [`${swarm ?? file} · ${agents.length}`, ...(await table(heads, rows))].join('\n');
}
