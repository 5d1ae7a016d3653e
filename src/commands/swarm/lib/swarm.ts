/** One swarm on this machine: its name, launchers and stored state. */
import type { Output } from '../../../cli/output.ts';
import type { Launchers } from './plan.ts';
import { alone, readSwarm, type StartedAgent, type SwarmRecord, writeSwarm } from './state.ts';

export class Swarm {
  readonly name: string;
  readonly launchers: Launchers;
  readonly out: Output;
  readonly #base: SwarmRecord;

  /** @param base as it is when nothing is noted of it yet */
  constructor(base: SwarmRecord, launchers: Launchers, out: Output) {
    this.#base = base;
    this.name = base.name;
    this.launchers = launchers;
    this.out = out;
  }

  /** Work that starts or stops agents: done by one command at a time. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return alone(this.name, (text) => this.out.note(text), work);
  }

  /** What is noted of an agent; null where nothing is. */
  noted(name: string): StartedAgent | null {
    return readSwarm(this.name)?.agents[name] ?? null;
  }

  /** Notes an agent. Only within `alone`. */
  note(name: string, started: StartedAgent): void {
    const agents = readSwarm(this.name)?.agents ?? {};
    writeSwarm({ ...this.#base, agents: { ...agents, [name]: started } });
  }
}
