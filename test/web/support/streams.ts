/** Streams that a test holds back and listens to. */
import type { Page } from 'playwright-core';

/**
 * Runs in the page before it: the streams are in the page. What they say comes only while `held` is off, and is then added to
 * `streamed`.
 */
export function streamsInPage(): void {
  Reflect.deleteProperty(globalThis, 'SharedWorker');
  const world = globalThis as typeof globalThis & { held?: boolean; streamed?: string };
  const real = fetch;
  const decoder = new TextDecoder();
  world.streamed = '';
  world.fetch = async (...asked) => {
    const answer = await real(...asked);
    if (!answer.body || !answer.headers.get('content-type')?.includes('event-stream')) return answer;
    const gate = new TransformStream<Uint8Array, Uint8Array>({
      async transform(bytes, controller) {
        while (world.held) await new Promise((resolve) => setTimeout(resolve, 50));
        controller.enqueue(bytes);
        world.streamed += decoder.decode(bytes);
      },
    });
    return new Response(answer.body.pipeThrough(gate), answer);
  };
}

/** Waits until a stream of a page with `streamsInPage` has said a text. */
export const streamed = (page: Page, text: string): Promise<unknown> =>
  page.waitForFunction((wanted) => (globalThis as { streamed?: string }).streamed?.includes(wanted), text);
