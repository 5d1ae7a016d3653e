/** Shares the files of a test run out among processes by the time that each took when it was measured. */

/** Tests that run with the same settings. */
export interface Kind {
  name: string;
  files: string[];
  env?: Record<string, string>;
}

/** A part of a kind's files, for one process. */
export type Shard = Kind;

/** Seconds by kind and file. */
export type Times = { [kind: string]: { [file: string]: number } };

/** Files that nobody has measured yet. */
const UNKNOWN_SECONDS = 3;

/**
 * Shards of about equal time, mixed: those that wait for most of their time, such as for a process that is started, run beside
 * those that compute, each kind from the first to the last, its longest first.
 *
 * Longest processing time first: each file, in order of falling time, goes to the shard that has least (Graham, 1969).
 * @param seconds how long a shard should take; null for one shard a lane
 */
export function shardsOf(kinds: Kind[], times: Times, seconds: number | null, lanes: number): Shard[] {
  const placed = kinds.flatMap((kind) => {
    const timed = kind.files.map((file) => ({ file, seconds: times[kind.name]?.[file] ?? UNKNOWN_SECONDS }));
    const total = timed.reduce((sum, one) => sum + one.seconds, 0);
    const count = Math.min(timed.length, seconds === null ? lanes : Math.ceil(total / seconds));
    const shards = Array.from({ length: count }, () => ({ seconds: 0, files: [] as string[] }));
    for (const one of timed.sort((a, b) => b.seconds - a.seconds || (a.file < b.file ? -1 : 1))) {
      const least = shards.reduce((a, b) => (b.seconds < a.seconds ? b : a));
      least.files.push(one.file);
      least.seconds += one.seconds;
    }
    return shards
      .sort((a, b) => b.seconds - a.seconds)
      .map(({ files }, n) => ({ at: n / count, shard: { ...kind, files: files.sort() } }));
  });
  return placed.sort((a, b) => a.at - b.at).map(({ shard }) => shard);
}
