/** Examples as a shell reads them. */

/** The words of a line, up to a pipe or a redirection. */
export function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const [, double, single, bare] of line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)) {
    if (bare !== undefined && /^([|<>]|&&)/.test(bare)) break;
    words.push(double ?? single ?? bare!);
  }
  return words;
}

/** Every call of the program in an example, which may stand behind a pipe. */
export const callsOf = (example: string): string[][] =>
  [...example.matchAll(/(?:^|[|;] |&& |[A-Z]+=\S+ |[A-Z]+="[^"]*" )service (.*)$/g)].map(([, rest]) => wordsOf(rest!));
