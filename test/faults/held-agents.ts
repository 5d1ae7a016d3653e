/** Agents whose sessions the built daemon of a machine serves, which is killed and comes back. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { daemonPaths } from '../../src/daemon/paths.ts';
import { FakeHarness } from '../daemon/support/harness.ts';
import { DaemonProcess } from '../daemon/support/process.ts';
import { Machine } from '../daemon/world.ts';
import type { Api } from '../support/api.ts';
import type { Agent } from '../support/cast.ts';

export class HeldAgents {
  /** When the daemon answered first since it was started last. */
  since = performance.now();
  readonly #machine: Machine;
  readonly #sessions = new Map<string, FakeHarness>();
  #daemon: DaemonProcess;

  private constructor(machine: Machine, daemon: DaemonProcess) {
    this.#machine = machine;
    this.#daemon = daemon;
  }

  /** On the machine whose own server it is. @param owner of the agents, all on this board. */
  static async start(
    { url, dataDir }: { url: string; dataDir: string },
    { owner, board, agents }: { owner: Api; board: { id: string; name: string }; agents: readonly Agent[] },
  ): Promise<HeldAgents> {
    const machine = new Machine();
    machine.owns({ dataDir });
    writeFileSync(join(machine.folders.data, 'server.addr'), `${new URL(url).host}\n`, { mode: 0o600 });
    await machine.knows(url, (await owner.ok('getInfo')).server_id, owner, { mode: 'local', urls: [url] });
    for (const agent of agents) await machine.holds(url, board, agent);
    const daemon = await DaemonProcess.startBuilt(machine);
    const held = new HeldAgents(machine, daemon);
    try {
      for (const { name } of agents) await held.#bind({ server: url, board: board.name, name });
      return held;
    } catch (error) {
      await held.end();
      throw error;
    }
  }

  async #bind(agent: { server: string; board: string; name: string }): Promise<void> {
    const options = { way: 'extension' as const, header: { session: agent.name } };
    const session = new FakeHarness(daemonPaths(this.#machine.folders).socket, options);
    await session.register();
    const { error } = await session.ask('bind', { agent });
    if (error) throw new Error(`${agent.name} is not bound: ${JSON.stringify(error)}`);
    session.start();
    this.#sessions.set(agent.name, session);
  }

  has = (name: string): boolean => this.#sessions.has(name);

  /** The numbers of the messages in each text that the agent's session was given, in order. */
  given = (name: string): number[][] =>
    (this.#sessions.get(name)?.texts() ?? []).map((text) =>
      [...text.matchAll(/ seq="(\d+)"|^#(\d+) @/gm)].map(([, whole, named]) => Number(whole ?? named)),
    );

  async kill(): Promise<void> {
    await this.#daemon.kill();
    this.#daemon = await DaemonProcess.startBuilt(this.#machine);
    this.since = performance.now();
  }

  async end(): Promise<void> {
    for (const session of this.#sessions.values()) await session.stop();
    await this.#daemon.kill();
    await this.#machine.close();
  }
}
