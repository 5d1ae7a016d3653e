/**
 * Holds the event streams for all tabs of a browser: the hint stream and the streams of the three boards shown last. A
 * browser opens only six connections to an HTTP/1.1 server, and one stream per tab would use them up.
 */
import { type BoardFrame, boardStream } from '../../client/board-stream.ts';
import { Client } from '../../client/client.ts';
import { ClientError } from '../../client/errors.ts';
import { type HintFrame, hintStream } from '../../client/hint-stream.ts';
import { endsSession } from '../api/errors.ts';
import type { FromTab, Link, ToTab } from './protocol.ts';

const MAX_BOARDS = 3;
/** How long after an answer that no stream goes on from, such as a proxy's own, it connects again. */
const AGAIN_MS = 5_000;

export interface Tab {
  send(message: ToTab): void;
}

interface BoardFeed {
  stop: AbortController;
  /** The number of the last event sent to tabs; null until the stream is ready. */
  head: number | null;
}

/** What the hub that has the streams tells the others; they ask it to end the retry delay. */
export type Told = Extract<ToTab | FromTab, { type: 'link' | 'hint' | 'session_ended' | 'retry' }>;

export class Hub {
  /** Whether it has the streams. If not, its tabs are told what another hub tells it, and read what is new on their boards. */
  private leads = true;
  private readonly tabs = new Map<Tab, { board: string | null }>();
  /** By board name, least recently shown first. */
  private readonly feeds = new Map<string, BoardFeed>();
  /** The latest hint of each kind and board, for tabs that open later. */
  private readonly latest = new Map<string, HintFrame>();
  private link: Link = { state: 'connecting' };
  private person: string | null = null;
  private hints: AbortController | null = null;
  private delays = new AbortController();
  private readonly client: Client;
  private readonly tell: (message: Told) => void;

  /** @param tell tells the other hubs */
  constructor(origin: string, tell: (message: Told) => void = () => {}) {
    this.tell = tell;
    this.client = new Client({ origin, sleep: (ms, signal) => this.sleep(ms, signal) });
  }

  /** Handles a message from a tab. */
  receive(tab: Tab, message: FromTab): void {
    if (message.type === 'hello') this.join(tab, message.person);
    else if (message.type === 'bye') this.leave(tab);
    else if (message.type === 'retry') this.retry();
    else this.setBoard(tab, message.board);
  }

  /** Whether no tab needs it. */
  get idle(): boolean {
    return this.tabs.size === 0;
  }

  /** Takes the streams, or leaves them to another hub. */
  lead(leads: boolean): void {
    if (leads === this.leads) return;
    this.leads = leads;
    // What is missed in between is read as after a loss.
    if (this.link.state === 'live') this.setLink({ state: 'reconnecting', at: Date.now() });
    if (!leads) {
      this.stop();
      for (const [tab, { board }] of this.tabs) if (board !== null) tab.send({ type: 'detached', board });
    } else if (!this.idle) {
      void this.followHints();
      for (const { board } of this.tabs.values()) if (board !== null && !this.feeds.has(board)) this.open(board);
    }
  }

  /** Handles what another hub tells. */
  hear(message: Told): void {
    if (this.leads) {
      if (message.type === 'retry') this.retry();
    } else if (message.type === 'link') this.setLink(message.link);
    else if (message.type === 'hint') this.publishHint(message.frame);
    else if (message.type === 'session_ended') this.endSession();
  }

  leave(tab: Tab): void {
    if (!this.tabs.delete(tab)) return;
    this.dropUnused();
    if (this.tabs.size === 0) this.stop();
  }

  private join(tab: Tab, person: string): void {
    // The other tabs still show the person before: they have to read the session again.
    if (this.person !== null && person !== this.person) this.endSession();
    this.person = person;
    this.tabs.set(tab, { board: null });
    tab.send({ type: 'link', link: this.link });
    for (const frame of this.latest.values()) tab.send({ type: 'hint', frame });
    if (this.leads && !this.hints) void this.followHints();
  }

  private stop(): void {
    this.hints?.abort();
    this.hints = null;
    for (const { stop } of this.feeds.values()) stop.abort();
    this.feeds.clear();
    this.latest.clear();
    this.link = { state: 'connecting' };
  }

  private setBoard(tab: Tab, board: string | null): void {
    const state = this.tabs.get(tab);
    if (!state) return;
    state.board = board;
    if (board !== null && this.feeds.has(board)) this.attach(tab, board);
    else if (board !== null && this.leads) this.open(board);
    else if (board !== null) tab.send({ type: 'detached', board });
    this.dropUnused();
  }

  private attach(tab: Tab, board: string): void {
    const feed = this.feeds.get(board)!;
    // Moves it to the end, as the most recently shown.
    this.feeds.delete(board);
    this.feeds.set(board, feed);
    if (feed.head !== null) tab.send({ type: 'attached', board, head: feed.head });
  }

  private open(board: string): void {
    const feed: BoardFeed = { stop: new AbortController(), head: null };
    this.feeds.set(board, feed);
    const [oldest] = this.feeds.keys();
    if (this.feeds.size > MAX_BOARDS && oldest !== undefined) {
      this.close(oldest);
      this.sendToBoard(oldest, { type: 'detached', board: oldest });
    }
    void this.followBoard(board, feed);
  }

  private close(board: string): void {
    this.feeds.get(board)?.stop.abort();
    this.feeds.delete(board);
  }

  private dropUnused(): void {
    const shown = new Set([...this.tabs.values()].map(({ board }) => board));
    for (const board of this.feeds.keys()) if (!shown.has(board)) this.close(board);
  }

  private async followBoard(board: string, feed: BoardFeed): Promise<void> {
    const { signal } = feed.stop;
    try {
      const options = { board, include: 'message' as const, signal, firstAttempts: Number.POSITIVE_INFINITY };
      for await (const frame of boardStream(this.client, options)) this.publishFrame(board, feed, frame);
    } catch (error) {
      if (signal.aborted) return;
      this.feeds.delete(board);
      if (endsSession(error)) return this.endSession();
      this.sendToBoard(board, {
        type: 'board_ended',
        board,
        code: error instanceof ClientError ? error.code : 'page_error',
      });
    }
  }

  private publishFrame(board: string, feed: BoardFeed, frame: BoardFrame): void {
    if (frame.event === 'ready' && feed.head === null) {
      feed.head = frame.data.head_seq;
      this.sendToBoard(board, { type: 'attached', board, head: feed.head });
    }
    if (frame.event === 'event') feed.head = frame.id;
    this.sendToBoard(board, { type: 'frame', board, frame });
  }

  private async followHints(): Promise<void> {
    const stop = new AbortController();
    this.hints = stop;
    const { signal } = stop;
    try {
      const frames = hintStream(this.client, {
        signal,
        firstAttempts: Number.POSITIVE_INFINITY,
        onConnected: () => this.setLink({ state: 'live' }),
        onReconnect: ({ delayMs }) => {
          const state = navigator.onLine ? 'reconnecting' : 'offline';
          this.setLink({ state, at: Date.now() + delayMs });
        },
      });
      for await (const frame of frames) this.publishHint(frame);
    } catch (error) {
      if (signal.aborted) return;
      if (endsSession(error)) return this.endSession();
      this.setLink({ state: 'reconnecting', at: Date.now() + AGAIN_MS });
      await this.sleep(AGAIN_MS, signal).catch(() => {});
      if (!signal.aborted) void this.followHints();
    }
  }

  private publishHint(frame: HintFrame): void {
    if (frame.event === 'head' || frame.event === 'unread')
      this.latest.set(`${frame.event} ${frame.data.board_id}`, frame);
    // With a member it tells of one of the person's seats; the person may still read the board.
    if (frame.event === 'board_unavailable' && !frame.data.member_id)
      for (const kind of ['head', 'unread']) this.latest.delete(`${kind} ${frame.data.board_id}`);
    this.sendToAll({ type: 'hint', frame });
  }

  private endSession(): void {
    this.stop();
    this.person = null;
    this.sendToAll({ type: 'session_ended' });
    this.tabs.clear();
  }

  private setLink(link: Link): void {
    this.link = link;
    this.sendToAll({ type: 'link', link });
  }

  private sendToAll(message: Exclude<Told, { type: 'retry' }>): void {
    for (const tab of this.tabs.keys()) tab.send(message);
    if (this.leads) this.tell(message);
  }

  private sendToBoard(board: string, message: ToTab): void {
    for (const [tab, shown] of this.tabs) if (shown.board === board) tab.send(message);
  }

  /** Ends all retry delays, so that every waiting stream connects now. */
  private retry(): void {
    if (!this.leads) this.tell({ type: 'retry' });
    const { delays } = this;
    this.delays = new AbortController();
    delays.abort();
  }

  private sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const { signal: wake } = this.delays;
    return new Promise((resolve, reject) => {
      const done = (): void => {
        clearTimeout(timer);
        wake.removeEventListener('abort', done);
        signal?.removeEventListener('abort', stopped);
        resolve();
      };
      const stopped = (): void => {
        done();
        reject(signal?.reason);
      };
      const timer = setTimeout(done, ms);
      wake.addEventListener('abort', done);
      signal?.addEventListener('abort', stopped);
      if (signal?.aborted) stopped();
    });
  }
}
