/** The worker that loads a board's whole record, verifies its hash chain and counts events. */
import { Client } from '../../client/client.ts';
import { ClientError } from '../../client/errors.ts';
import { waitWhenLimited } from '../../client/rate-limit.ts';
import { sleep } from '../../client/time.ts';
import { eventPages, sha256 } from '../../client/verify.ts';
import { ChainVerifier } from '../../contract/chain.ts';
import type { BoardEvent } from '../../contract/types.ts';
import { oneAtATime } from '../state/throttle.ts';
import { actorKey, type Checked, type Counts, type FromVerifier, type ToVerifier } from './protocol.ts';

const client = new Client({ origin: location.origin });
const PAGE = 200;
/** A long record takes more requests than a server takes a minute. */
const request = waitWhenLimited((seconds) => sleep(seconds * 1000));

let verifier: ChainVerifier;
let board: string;
let last = 0;
const counts: Counts = { days: {}, actors: {}, types: {}, files: {} };

const send = (message: FromVerifier): void => postMessage(message);

/** Continues after the last checked event, up to the end of the record. */
async function read(): Promise<void> {
  let head: number | undefined;
  for await (const page of eventPages(client, board, { after: last, limit: PAGE }, request)) {
    head ??= page.head_seq;
    for (const event of page.events) {
      await verifier.add(event);
      count(event);
    }
    send({ type: 'progress', checked: last, head });
  }
  const problem = verifier.finish(head ?? 0);
  const checked: Checked = { events: last, head: verifier.head, problem, withheld: verifier.payloadsWithheld };
  send({ type: 'checked', checked, counts });
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function count({ seq, at, actor, type, data }: BoardEvent): void {
  if (Number.isSafeInteger(seq)) last = Math.max(last, seq);
  const day = new Date(at).setHours(0, 0, 0, 0);
  const who = actorKey(actor);
  counts.days[day] ??= {};
  const ofDay = counts.days[day];
  ofDay[who] = (ofDay[who] ?? 0) + 1;
  counts.types[type] = (counts.types[type] ?? 0) + 1;
  counts.actors[who] = {
    name: actor?.name ?? 'the server',
    kind: actor?.kind ?? 'system',
    owner: actor?.owner ?? null,
  };
  if (type === 'file.version_added') counts.files[text(data?.['file_id'])] = text(data?.['name']);
  if (type === 'file.renamed') counts.files[text(data?.['file_id'])] = text(data?.['after']);
}

const check = oneAtATime(() =>
  read().catch((error: unknown) => {
    const { code, message, hint } =
      error instanceof ClientError ? error : { code: 'page_error', message: String(error), hint: '' };
    send({ type: 'failed', code, message, hint });
  }),
);

addEventListener('message', ({ data }: MessageEvent<ToVerifier>) => {
  if (data.type === 'start') {
    board = data.board;
    verifier = new ChainVerifier(data.id, { sha256, pinned: data.pinned ?? undefined });
  }
  void check();
});
