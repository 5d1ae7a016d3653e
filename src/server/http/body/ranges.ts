/** What a client has already, and which part of the bytes it asks for. */
import type { IncomingHttpHeaders } from 'node:http';

type ByteRange = 'all' | 'unsatisfiable' | { start: number; end: number };

/** Whether `If-None-Match` names this entity. */
export function hasAlready({ 'if-none-match': header }: IncomingHttpHeaders, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((each) => {
    const tag = each.trim();
    return tag === '*' || tag.replace(/^W\//, '') === etag;
  });
}

/** One range of bytes. Several ranges, an invalid one, or one of an older version ask for everything. */
export function wantedOf(headers: IncomingHttpHeaders, etag: string, size: number): ByteRange {
  const { range, 'if-range': ifRange } = headers;
  if (range === undefined || (ifRange !== undefined && ifRange !== etag)) return 'all';
  const [, first = '', last = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(range) ?? [];
  if (first === '' && last === '') return 'all';
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return 'all';
  return start >= size ? 'unsatisfiable' : { start, end };
}
