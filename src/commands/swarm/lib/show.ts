/** `service swarm show`: shows what `service.yaml` resolves to on this machine. Starts nothing. */
import type { z } from 'zod';
import { programOf } from '../../run/lib/programs.ts';
import type { Chosen } from './choose.ts';
import { argvOf } from './command-lines.ts';
import type { SwarmFile } from './file.ts';
import { daemonView, holderOf } from './look.ts';
import { Launchers, linesOf, planned } from './plan.ts';
import { heldSeats } from './seats.ts';
import type { show } from './shapes.ts';
import type { SwarmRecord } from './state.ts';

export type ShowRecord = z.infer<typeof show>;

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
