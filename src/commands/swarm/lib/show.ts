/** `service swarm show`: shows what `service.yaml` resolves to on this machine. Starts nothing. */
import { programOf } from '../../../cli/local/programs.ts';
import type { LaunchMode } from '../../../launch/protocol.ts';
import type { Chosen } from './choose.ts';
import { argvOf } from './command-lines.ts';
import type { SwarmFile } from './file.ts';
import { daemonView, holderOf } from './look.ts';
import { Launchers, linesOf, planned } from './plan.ts';
import { heldSeats } from './seats.ts';
import type { SwarmRecord } from './state.ts';

interface ShownAgent {
  name: string;
  harness: string;
  role: string | null;
  model: string | null;
  launcher: string;
  mode: LaunchMode;
  dir: string;
  /** As it would be run anew; what it is told first stands as `{prompt}`. */
  argv: string[];
  /** Whether the program is there. */
  installed: boolean;
  seat: string | null;
  /** The session that holds its seat, or held it last. */
  session: string | null;
}

export interface ShowRecord {
  swarm: string | null;
  file: string;
  board: string;
  /** As the file names it, or where it was started. */
  at: string | null;
  agents: ShownAgent[];
}

export async function showOf(file: SwarmFile, record: SwarmRecord | null): Promise<ShowRecord> {
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
    at: record?.server.url ?? file.server ?? null,
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

/** The file of a swarm that was named, as it is now. */
export async function fileOf({ file, record }: Chosen): Promise<SwarmFile> {
  if (file) return file;
  const { readSwarmFile } = await import('./file.ts');
  return readSwarmFile(record!.file);
}
