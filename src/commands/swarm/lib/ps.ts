/** `service swarm ps`: lists the state of each agent. Starts nothing. */
import type { z } from 'zod';
import type { Chosen } from './choose.ts';
import { daemonView, holderOf, lookAt } from './look.ts';
import { Launchers, planned } from './plan.ts';
import { standing } from './records.ts';
import { heldSeats } from './seats.ts';
import type { ps } from './shapes.ts';
import type { StartedAgent } from './state.ts';

export type PsRecord = z.infer<typeof ps>;

/** Those of the file, then those that were started from it once and are no longer in it. */
export async function psOf({ file, record }: Chosen): Promise<PsRecord> {
  const launchers = new Launchers();
  const status = await daemonView();
  const wanted = file ? await planned(file, launchers) : [];
  const seats = record ? heldSeats(record.server.server_id, record.board_id) : new Map();
  const started: Record<string, StartedAgent> = record?.agents ?? {};
  const names = [...new Set([...wanted.map(({ name }) => name), ...Object.keys(started)])];
  const agents = names.map(async (name) => {
    const plan = wanted.find((agent) => agent.name === name);
    const own = started[name] ?? null;
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
