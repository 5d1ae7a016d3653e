/**
 * 30 agents at once, who each send a message to another one, fetch their inbox and acknowledge it: first as fast as they are
 * answered, then at 50 requests a second. The second is the load of which mcp_agent_mail publishes figures (the README of its Rust
 * version: "Sustained 30s mixed workload"; 49 requests a second of the 50 that were offered, p99 2.6 s); these are not measured here,
 * and its machine is not known.
 */
import { newIdempotencyKey } from '../../src/client/idempotency.ts';
import { Engine } from './engine.ts';
import { spread } from './fanout.ts';
import { type Figure, quantile, round } from './measure.ts';
import { type Answer, request, Wire } from './wire.ts';
import { type Product, startProduct } from './world.ts';

const AGENTS = 30;
const WARM_UP_MS = 3_000;
const RUN_MS = 10_000;
const OFFERED = 50;
const OFFERED_MS = 30_000;
const published = { rate: 49, p99: 2_600 };

interface Agent {
  name: string;
  token: string;
  wire: Wire;
  /** What it does next: post, fetch, acknowledge. */
  step: number;
  /** The last number it fetched. */
  last: number;
  read: number[];
}

export async function mail(): Promise<Figure[]> {
  const engine = await Engine.start();
  try {
    return [
      ...(await measure('SQLite')),
      ...(await measure('Postgres', engine.url)),
      { name: 'mcp_agent_mail, as published, not measured here: requests/s', value: String(published.rate) },
      { name: 'mcp_agent_mail, as published, not measured here: p99', value: `${published.p99} ms` },
    ];
  } finally {
    await engine.end();
  }
}

async function measure(name: string, db?: string): Promise<Figure[]> {
  const product = await startProduct({ db });
  try {
    await product.call('POST', '/v1/boards', { name: 'mail', preset: 'starter' });
    const agents = await Promise.all(Array.from({ length: AGENTS }, () => seated(product)));
    const office = new Office(product.url, agents);
    await office.closed(WARM_UP_MS);
    const fast = await office.closed(RUN_MS);
    const calm = await office.offered(OFFERED_MS);
    await office.check();
    for (const { wire } of agents) wire.close();
    const p99 = quantile(calm.times, 0.99);
    return [
      { name: `mail, ${AGENTS} agents on ${name}: requests/s`, value: round(fast.rate, 0) },
      { name: `mail, ${AGENTS} agents on ${name}: answer, p50 / p99`, value: spread(fast.times) },
      { name: `mail at ${OFFERED} requests/s on ${name}: answer, p50 / p99`, value: spread(calm.times) },
      {
        name: `mail at ${OFFERED} requests/s on ${name}: p99 to mcp_agent_mail’s published one`,
        value: round(p99 / published.p99, 4),
        ratio: p99 / published.p99,
        target: { op: '<=', value: 1 },
      },
      { name: `mail on ${name}: every message read once`, value: 'yes' },
    ];
  } finally {
    await product.end();
  }
}

async function seated(product: Product): Promise<Agent> {
  const { agent, token } = await product.call<{ agent: { name: string }; token: string }>('POST', '/v1/join', {
    board: 'mail',
    role: 'member',
  });
  return { name: agent.name, token, wire: await Wire.open(product.url), step: 0, last: 0, read: [] };
}

class Office {
  readonly #url: string;
  readonly #agents: Agent[];
  /** What was sent to each agent. */
  readonly #sent = new Map<Agent, number[]>();

  constructor(url: string, agents: Agent[]) {
    this.#url = url;
    this.#agents = agents;
  }

  /** Every agent goes on as soon as it is answered. */
  async closed(ms: number): Promise<{ rate: number; times: number[] }> {
    const times: number[] = [];
    const start = performance.now();
    await Promise.all(
      this.#agents.map(async (agent) => {
        while (performance.now() - start < ms) {
          const from = performance.now();
          times.push((await this.#act(agent)).at - from);
        }
      }),
    );
    return { rate: times.length / ((performance.now() - start) / 1000), times };
  }

  /** One request every 20 ms, of one agent after the other; each time counts from when it was due. */
  async offered(ms: number): Promise<{ times: number[] }> {
    const times: number[] = [];
    const start = performance.now();
    const each = 1000 / OFFERED;
    const loops = this.#agents.map(async (agent, n) => {
      for (let due = n * each; due < ms; due += AGENTS * each) {
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - (performance.now() - start))));
        const { at } = await this.#act(agent);
        times.push(at - start - due);
      }
    });
    await Promise.all(loops);
    return { times };
  }

  async #act(agent: Agent): Promise<Answer> {
    const step = agent.step++ % 3;
    if (step === 0) return await this.#post(agent);
    if (step === 1) return await this.#fetch(agent);
    return await this.#send(agent, 'POST', '/v1/me/inbox/ack', { up_to: agent.last });
  }

  async #post(agent: Agent): Promise<Answer> {
    const others = this.#agents.filter((other) => other !== agent);
    const to = others[Math.floor(Math.random() * others.length)]!;
    const body = { to: [`@${to.name}`], body: `Request ${agent.step} of ${agent.name}: who looks at the retry loop?` };
    const answer = await this.#send(agent, 'POST', '/v1/boards/mail/messages', body);
    const { seq } = JSON.parse(answer.body.toString()) as { seq: number };
    this.#sent.set(to, [...(this.#sent.get(to) ?? []), seq]);
    return answer;
  }

  async #fetch(agent: Agent): Promise<Answer> {
    const answer = await this.#send(agent, 'GET', `/v1/me/inbox?after=${agent.last}`);
    const { messages } = JSON.parse(answer.body.toString()) as { messages: { seq: number }[] };
    for (const { seq } of messages) {
      agent.read.push(seq);
      agent.last = Math.max(agent.last, seq);
    }
    return answer;
  }

  async #send(agent: Agent, method: string, path: string, body?: object): Promise<Answer> {
    const headers = { Authorization: `Bearer ${agent.token}`, 'Idempotency-Key': newIdempotencyKey() };
    const answer = await agent.wire.send(request(this.#url, method, path, headers, body && JSON.stringify(body)));
    if (answer.status >= 300) throw new Error(`${method} ${path} got ${answer.status}: ${answer.body.toString()}`);
    return answer;
  }

  /** Whether each agent read each message to it exactly once, after it fetched what is left. @throws Error */
  async check(): Promise<void> {
    for (const agent of this.#agents) {
      for (let before = -1; before < agent.read.length; ) {
        before = agent.read.length;
        await this.#fetch(agent);
      }
      const sent = [...(this.#sent.get(agent) ?? [])].sort((a, b) => a - b);
      if (sent.join() !== agent.read.join())
        throw new Error(`${agent.name} read ${agent.read.length} of ${sent.length} messages, or in another order`);
    }
  }
}
