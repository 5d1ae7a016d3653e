/**
 * Looks for secrets in the bytes of a file while they pass. It keeps a window of them, never the whole file: a secret is
 * told by at most so many characters after its start as one window overlaps with the next.
 */
import { findSecrets, listed, type RedactionCounts } from './redaction.ts';

/** What is in a text file that may not be there. */
export interface FileSecrets {
  /** Sorted by kind. */
  kinds: RedactionCounts;
  /** The line of the first one, from 1. */
  line: number;
}

export interface FileScan {
  push(chunk: Buffer): void;
  /** Null: nothing found, or no text. */
  end(): FileSecrets | null;
}

/** A file with a NUL among its first bytes is no text. */
const HEAD = 8_192;
const OVERLAP = 4_096;
/** Bytes are looked through in pieces of at least this many, so that bytes that come one by one cost no window each. */
const PIECE = 65_536;

export function scanFile(): FileScan {
  const window = new Window();
  let pending: Buffer[] = [];
  let length = 0;
  /** Null: not decided yet. */
  let decode: Decode | null | 'binary' = null;

  const flush = (last: boolean): void => {
    const bytes = Buffer.concat(pending);
    pending = [];
    length = 0;
    decode ??= decoderFor(bytes);
    if (decode !== 'binary') window.add(decode(bytes, last), last);
  };
  return {
    push(chunk) {
      if (decode === 'binary') return;
      pending.push(chunk);
      length += chunk.length;
      if (length >= PIECE) flush(false);
    },
    end() {
      if (decode !== 'binary') flush(true);
      return window.found();
    },
  };
}

type Decode = (bytes: Buffer, last: boolean) => string;

/** @param head the first piece of the file: all of it, or more than decides. */
function decoderFor(head: Buffer): Decode | 'binary' {
  const mark = markOf(head);
  if (mark === 'fffe') return decoderOf('utf-16le');
  if (mark === 'feff') return decoderOf('utf-16be');
  // Byte by byte: every pattern is ASCII, which looks the same in UTF-8 and everything like it.
  return head.subarray(0, HEAD).includes(0) ? 'binary' : (bytes) => bytes.toString('latin1');
}

/** A whole file as text; null if it is not text. */
export function fileText(bytes: Buffer): string | null {
  const decode = decoderFor(bytes);
  if (decode === 'binary') return null;
  const text = ['fffe', 'feff'].includes(markOf(bytes)) ? decode(bytes, true) : bytes.toString('utf8');
  return text.replace(/^\ufeff/, '');
}

const markOf = (bytes: Buffer): string => bytes.subarray(0, 2).toString('hex');

function decoderOf(encoding: 'utf-16le' | 'utf-16be'): Decode {
  const decoder = new TextDecoder(encoding);
  return (bytes, last) => decoder.decode(bytes, { stream: !last });
}

class Window {
  #text = '';
  /** Secrets that start before it were counted in an earlier window. */
  #from = 0;
  /** Line breaks before the window. */
  #lines = 0;
  #first: number | null = null;
  readonly #counts = new Map<string, number>();

  add(text: string, last: boolean): void {
    this.#text += text;
    // What starts in the overlap may be cut off at the end; the next window has all of it.
    const until = last ? this.#text.length : this.#text.length - OVERLAP;
    if (until <= this.#from) return;
    for (const { kind, index } of findSecrets(this.#text, 'files')) {
      if (index < this.#from || index >= until) continue;
      this.#first ??= this.#lines + breaksIn(this.#text.slice(0, index)) + 1;
      this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
    }
    // One character more is kept, which tells whether a word starts after it.
    const dropped = Math.max(0, until - 1);
    this.#lines += breaksIn(this.#text.slice(0, dropped));
    this.#text = this.#text.slice(dropped);
    this.#from = until - dropped;
  }

  found(): FileSecrets | null {
    if (this.#first === null) return null;
    return { kinds: listed(this.#counts), line: this.#first };
  }
}

function breaksIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
