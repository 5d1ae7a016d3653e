/**
 * A model endpoint on loopback that answers by a script in place of a model. It speaks what Claude Code asks of
 * `/v1/messages` and what Codex asks of `/v1/responses`, both as server-sent events, and keeps every request: what a
 * session was given is proved by what reached its model, not by what a hook printed.
 */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { answerMessages, readMessages } from './messages.ts';
import { answerResponses, readResponses } from './responses.ts';

/** What the scripted model does next: says something, has the program run a command of the shell, or hands work to a subagent. */
export type Move = { say: string } | { run: string } | { delegate: string };

/** One request of an agent's own turn. A program's side requests (titles and the like) carry no tools and are answered, not kept. */
export interface Asked {
  /** When it came, on this process's monotonic clock in milliseconds. */
  at: number;
  /** All text of the conversation so far, the newest last; system prompt and tool descriptions are left out. */
  conversation: string;
  /** What is new since the model spoke last. */
  news: string;
  /** The same by message, each with all that stands in it: whoever's word it is told to be is part of what it says. */
  parts: Part[];
}

export interface Part {
  role: string;
  text: string;
}

/** The whole message in which a text came to the model. */
export function around({ parts }: Asked, text: string): Part {
  const part = parts.find((one) => one.text.includes(text));
  if (!part) throw new Error(`no message holds ${JSON.stringify(text)}`);
  return part;
}

/** Says what to do about one request; undefined leaves it to the next script, and at last to a short remark. */
export type Script = (asked: Asked) => Move | undefined | Promise<Move | undefined>;

export interface Wire {
  /** Undefined for a side request. */
  read(body: unknown): Omit<Asked, 'at'> | undefined;
  answer(response: ServerResponse, body: unknown, move: Move): void;
}

const wires: [string, Wire][] = [
  ['/v1/messages', { read: readMessages, answer: answerMessages }],
  ['/v1/responses', { read: readResponses, answer: answerResponses }],
];

export class ScriptedModel {
  readonly asked: Asked[] = [];
  private readonly scripts: Script[] = [];
  private readonly watchers = new Set<() => void>();

  readonly url: string;
  private readonly server: Server;

  private constructor(server: Server, url: string) {
    this.server = server;
    this.url = url;
  }

  static async start(): Promise<ScriptedModel> {
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        model.serve(request.url ?? '/', Buffer.concat(parts), response).catch((error) => {
          model.asked.push({ at: performance.now(), conversation: String(error), news: String(error), parts: [] });
          response.destroy();
        });
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (typeof address !== 'object' || !address) throw new Error('the scripted model has no port');
    const model = new ScriptedModel(server, `http://127.0.0.1:${address.port}`);
    return model;
  }

  /** Adds a script ahead of those there are. */
  script(script: Script): void {
    this.scripts.unshift(script);
  }

  /** Has the next turn whose news hold the text do something, once. */
  on(text: string, move: () => Move | Promise<Move>): void {
    let done = false;
    this.script(({ news }) => {
      if (done || !news.includes(text)) return undefined;
      done = true;
      return move();
    });
  }

  /** Has the next turn whose news hold the text run one command, once. */
  runOn(text: string, command: string): void {
    this.on(text, () => ({ run: command }));
  }

  /** The requests whose news hold the text. A program that got no answer sends the same conversation again, which counts once. */
  told(text: string): Asked[] {
    const found = this.asked.filter(({ news }) => news.includes(text));
    return found.filter((one, at) => found.findIndex((same) => same.conversation === one.conversation) === at);
  }

  /** Resolves once a request's news hold the text; fails with what came instead. */
  async until(text: string, milliseconds = 20_000): Promise<Asked> {
    const found = (): Asked | undefined => this.told(text)[0];
    const there = found();
    if (there) return there;
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const one = found();
        if (!one) return;
        clearTimeout(late);
        this.watchers.delete(look);
        resolve(one);
      };
      const late = setTimeout(() => {
        this.watchers.delete(look);
        const came = this.asked.map(({ news }) => `- ${news.slice(-400)}`).join('\n');
        reject(new Error(`the model was not told ${JSON.stringify(text)} in time; it was told:\n${came}`));
      }, milliseconds);
      this.watchers.add(look);
    });
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async serve(url: string, raw: Buffer, response: ServerResponse): Promise<void> {
    const wire = wires.find(([path]) => url.split('?')[0] === path)?.[1];
    const body = wire && parse(raw);
    if (!wire || !body) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"not here"}}');
      return;
    }
    const read = wire.read(body);
    let move: Move = { say: 'Scripted title' };
    if (read) {
      const asked = { at: performance.now(), ...read };
      this.asked.push(asked);
      for (const look of [...this.watchers]) look();
      move = await this.decide(asked);
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    wire.answer(response, body, move);
    response.end();
  }

  private async decide(asked: Asked): Promise<Move> {
    for (const script of [...this.scripts]) {
      const move = await script(asked);
      if (move) return move;
    }
    return { say: 'Understood.' };
  }
}

function parse(raw: Buffer): unknown {
  try {
    return JSON.parse(raw.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** One server-sent event whose type stands in its data too, as both programs expect it. */
export function event(response: ServerResponse, type: string, data: object): void {
  response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
}
