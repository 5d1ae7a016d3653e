/** Encodes frames as lines of JSON, and splits incoming data into lines. */
import { MAX_FRAME_BYTES, PROTOCOL } from './limits.ts';

/** Encodes a frame. Its own fields that are empty, zero or false are left out; nested records are unchanged. */
export function encodeFrame(frame: Record<string, unknown>): string {
  const present = Object.entries(frame).filter(([, value]) => !isEmpty(value));
  return `${JSON.stringify({ v: PROTOCOL, ...Object.fromEntries(present) })}\n`;
}

/** Whether a line is within the limit of a frame. */
export const fitsFrame = (line: string): boolean => Buffer.byteLength(line) <= MAX_FRAME_BYTES + 1;

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === 0 ||
  value === false ||
  (Array.isArray(value) && value.length === 0);

/** Splits incoming data into lines. `tooLong` stays true once a line exceeds the limit. */
export class LineReader {
  private parts: Buffer[] = [];
  private size = 0;
  tooLong = false;

  /** Adds a chunk. @returns the lines that it completes */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0 && !this.tooLong; end = rest.indexOf(10)) {
      this.append(rest.subarray(0, end));
      if (!this.tooLong) lines.push(Buffer.concat(this.parts).toString('utf8'));
      this.parts = [];
      this.size = 0;
      rest = rest.subarray(end + 1);
    }
    if (!this.tooLong) this.append(rest);
    return lines;
  }

  private append(chunk: Buffer): void {
    this.size += chunk.length;
    this.tooLong ||= this.size > MAX_FRAME_BYTES;
    if (this.tooLong) this.parts = [];
    else if (chunk.length > 0) this.parts.push(chunk);
  }
}
