/** Comparing what writers were told with what the server has: its timeline, its record and its kept answers. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { ChainVerifier } from '../../src/contract/chain.ts';
import type { BoardEvent, Message } from '../../src/contract/types.ts';
import { call, must } from './api.ts';
import type { Fleet } from './writers.ts';

export interface Place {
  url: string;
  token: string;
  board: { id: string; name: string };
}

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/** Reads the record and the timeline from where it last stopped, so that a look after each fault stays cheap. */
export class Reading {
  readonly #verifier: ChainVerifier;
  /** Messages by their text. */
  readonly timeline = new Map<string, Message>();
  headSeq = 0;
  #lastMessage = 0;
  #posted = 0;

  constructor(boardId: string) {
    this.#verifier = new ChainVerifier(boardId, { sha256 });
  }

  async catchUp(place: Place): Promise<void> {
    await this.#readRecord(place);
    await this.#readTimeline(place);
    expect(this.timeline.size, 'messages in the timeline and in the record').to.equal(this.#posted);
  }

  /** The chain holds, and no number is missing. */
  async #readRecord(place: Place): Promise<void> {
    for (;;) {
      const after = this.#verifier.head?.seq ?? 0;
      const page = await must<{ events: BoardEvent[]; head_seq: number; next_after: number | null }>({
        ...place,
        path: `/v1/boards/${place.board.name}/events?limit=200&after=${after}`,
      });
      for (const event of page.events) {
        expect(await this.#verifier.add(event), 'problem in the record').to.equal(null);
        if (event.type === 'message.posted') this.#posted++;
      }
      this.headSeq = page.head_seq;
      if (page.next_after === null) break;
    }
    expect(this.#verifier.finish(this.headSeq), 'problem at the end of the record').to.equal(null);
    expect(this.#verifier.head?.seq, 'last event').to.equal(this.headSeq);
  }

  async #readTimeline(place: Place): Promise<void> {
    for (;;) {
      const page = await must<{ messages: Message[]; next_after: number | null }>({
        ...place,
        path: `/v1/boards/${place.board.name}/messages?limit=200&after=${this.#lastMessage}`,
      });
      for (const message of page.messages) {
        expect(this.timeline.has(message.body), `"${message.body}" stands twice`).to.equal(false);
        this.timeline.set(message.body, message);
        this.#lastMessage = message.seq;
      }
      if (page.next_after === null) return;
    }
  }
}

/** Everything acknowledged is there once and as answered; whatever else is there is still waiting for its answer. */
export function expectAllKept(fleet: Pick<Fleet, 'acknowledged' | 'pending'>, { timeline }: Reading, from = 0): void {
  for (const { text, answer } of fleet.acknowledged.slice(from)) {
    const told = JSON.parse(answer) as Message;
    const kept = timeline.get(text);
    expect(kept, `"${text}" was acknowledged as ${told.seq} and is gone`).to.not.equal(undefined);
    expect({ id: kept?.id, seq: kept?.seq, at: kept?.at }).to.deep.equal({ id: told.id, seq: told.seq, at: told.at });
  }
  const unanswered = [...fleet.pending].filter((post) => timeline.has(post.text)).length;
  expect(timeline.size, 'messages that somebody posted').to.equal(fleet.acknowledged.length + unanswered);
}

/** Sending these again answers the same bytes and changes nothing. */
export async function expectSameAgain(place: Place, posts: Fleet['acknowledged']): Promise<void> {
  for (const { key, bytes, answer } of posts) {
    const again = await call({
      ...place,
      method: 'POST',
      path: `/v1/boards/${place.board.name}/messages`,
      key,
      body: bytes,
    });
    expect(again.status).to.equal(201);
    expect(again.headers['idempotent-replayed']).to.equal('true');
    expect(again.body, 'the answer to a repeat').to.equal(answer);
  }
}
