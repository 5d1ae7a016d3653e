/** Reads a live stream in a test: frames as they come, and waiting for one. */
import { createParser } from 'eventsource-parser';
import type { Api, Call } from './api.ts';
import { pathOf } from './api.ts';
import { PATIENCE_MS } from './until.ts';

export interface Frame {
  event: string;
  id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the frame it expects
  data: any;
}

export class TestStream {
  readonly frames: Frame[] = [];
  readonly comments: string[] = [];
  readonly status: number;
  readonly headers: Headers;
  /** True once the server has closed it. */
  ended = false;
  readonly #controller: AbortController;
  readonly #waiting = new Set<() => void>();

  private constructor(response: Response, controller: AbortController) {
    this.status = response.status;
    this.headers = response.headers;
    this.#controller = controller;
    void this.#read(response);
  }

  static async open(api: Api, query: Call['query'] = {}, headers: Record<string, string> = {}): Promise<TestStream> {
    const controller = new AbortController();
    const response = await fetch(api.url + pathOf('/v1/stream', { query }), {
      headers: { ...api.headers({}), ...headers },
      signal: controller.signal,
    });
    return new TestStream(response, controller);
  }

  /** The first frame, past or to come, that fits. */
  async frame(fits: (frame: Frame) => boolean, ms = PATIENCE_MS): Promise<Frame> {
    await this.until(() => this.frames.some(fits), ms, `a frame with ${fits}`);
    return this.frames.find(fits) as Frame;
  }

  named(event: string): Frame[] {
    return this.frames.filter((frame) => frame.event === event);
  }

  /** Waits until a condition on what was received holds. */
  until(holds: () => boolean, ms = PATIENCE_MS, what = String(holds)): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(check);
        const frames = JSON.stringify(this.frames).slice(0, 2000);
        reject(new Error(`the stream did not come to this within ${ms} ms: ${what}; frames: ${frames}`));
      }, ms);
      const check = () => {
        if (!holds()) return;
        clearTimeout(timer);
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
      check();
    });
  }

  close(): void {
    this.#controller.abort();
  }

  async #read(response: Response): Promise<void> {
    const parser = createParser({
      onEvent: ({ event, id, data }) => this.frames.push({ event: event ?? 'message', id, data: JSON.parse(data) }),
      onComment: (comment) => this.comments.push(comment),
    });
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        parser.feed(decoder.decode(chunk, { stream: true }));
        for (const check of [...this.#waiting]) check();
      }
    } catch {
      // Closed by the test, or cut: either way it has ended.
    }
    this.ended = true;
    for (const check of [...this.#waiting]) check();
  }
}
