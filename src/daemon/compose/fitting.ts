/** Fits messages into a limit of bytes: whole, as one line of a digest, or truncated. */
import { renderDigest, renderTooLong } from '../bundle/digest.ts';
import { bytesOf } from '../bundle/escape.ts';
import type { Chosen } from './choose.ts';
import { frameBytes, groupBytes, groupOf, messageBytes, textOf } from './text.ts';
import type { ComposeInput } from './types.ts';

/** Above this number of messages or bytes, quiet messages are listed in a digest. */
const DIGEST_MESSAGES = 10;
const DIGEST_BYTES = 8_192;

/**
 * Takes as many messages as fit into `room` bytes, in order; the rest waits for the next bundle.
 *
 * @param most bytes a text of this kind may have at all: one message that is larger alone never keeps others from coming.
 */
export function fitMessages(
  all: readonly Chosen[],
  input: ComposeInput,
  { room, maxBytes: limit }: { room: number; maxBytes: number },
): Chosen[] {
  const large = isLarge(all, input);
  const packing = new Packer(input, room);
  for (let at = 0; at < all.length; at++) {
    const each = all[at]!;
    if (large && each.quiet && each.seat.mode !== 'all') {
      // In a selection of an earlier attempt, messages that are quiet by now may stand before others.
      const end = all.findIndex(({ seat, quiet }, n) => n > at && !(seat === each.seat && quiet));
      const rest = all
        .slice(at, end < 0 ? undefined : end)
        .map((one) => ({ ...one, tooLong: bytesOf(one.message.body) > limit }));
      const named = packing.addDigest(rest);
      if (named < rest.length) break;
      at += rest.length - 1;
      continue;
    }
    if (packing.add(each)) continue;
    if (bytesAlone(each, input) <= limit) break;
    const shorter: Chosen = { ...each, tooLong: true, form: input.point === 'turn_start' ? 'digest' : 'truncated' };
    if (!packing.add(shorter)) break;
  }
  return packing.chosen;
}

/** The first message truncated: without it, a message that never fits would block all others. */
export const firstTruncated = (first: Chosen): Chosen[] => [{ ...first, form: 'truncated' }];

function isLarge(all: readonly Chosen[], input: ComposeInput): boolean {
  return all.length > DIGEST_MESSAGES || bytesOf(textOf(all, input)) > DIGEST_BYTES;
}

const bytesAlone = (each: Chosen, input: ComposeInput): number =>
  frameBytes(input) + groupBytes(each.seat, each.quiet, input) + messageBytes(each, input);

/** Collects messages and counts an upper bound of their bytes. */
class Packer {
  readonly chosen: Chosen[] = [];
  readonly #input: ComposeInput;
  #left: number;
  readonly #groups = new Set<string>();
  readonly #digests = new Map<string, Chosen[]>();

  constructor(input: ComposeInput, room: number) {
    this.#input = input;
    this.#left = room - frameBytes(input);
  }

  add(each: Chosen): boolean {
    if (each.form === 'digest') return this.addDigest([each]) === 1;
    const group = this.#groupKey(each);
    const own = this.#groups.has(group) ? 0 : groupBytes(each.seat, each.quiet, this.#input);
    const bytes = own + messageBytes(each, this.#input);
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    this.#groups.add(group);
    this.chosen.push(each);
    return true;
  }

  #groupKey = ({ seat, quiet }: Chosen): string => `${this.#input.seats.indexOf(seat)} ${quiet}`;

  /** Adds as many of these messages, all of one group, to its digest as fit. @returns their number */
  addDigest(those: readonly Chosen[]): number {
    const group = this.#groupKey(those[0]!);
    const before = this.#digests.get(group) ?? [];
    const spent = this.#digestBytes(before);
    const fits = (count: number): boolean =>
      this.#digestBytes([...before, ...those.slice(0, count)]) - spent <= this.#left;
    let count = those.length;
    if (!fits(count)) {
      let low = 0;
      while (low < count - 1) {
        const middle = Math.floor((low + count) / 2);
        if (fits(middle)) low = middle;
        else count = middle;
      }
      count = low;
    }
    if (count === 0) return 0;
    const named = those.slice(0, count).map((each): Chosen => ({ ...each, form: 'digest' }));
    this.#digests.set(group, [...before, ...named]);
    this.#left -= this.#digestBytes([...before, ...named]) - spent;
    this.chosen.push(...named);
    return count;
  }

  #digestBytes(named: readonly Chosen[]): number {
    const [first] = named;
    if (!first) return 0;
    const digest = named.map(({ message }) => message).sort((a, b) => a.seq - b.seq);
    const options = { seats: this.#input.severalSeats, handoff: this.#input.handoffId };
    const render = first.quiet ? renderDigest : renderTooLong;
    return bytesOf(render(groupOf(first.seat, this.#input), digest, options)) + 1;
  }
}
