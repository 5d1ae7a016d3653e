/** Text that fits into a number of columns, with its words whole. */

/** A text as lines. Lines that begin with a space, and empty ones, stay as they are; others run on as paragraphs. */
export function wrapped(text: string, width: number): string[] {
  const paragraphs: string[] = [];
  let runsOn = false;
  for (const line of text.split('\n')) {
    const kept = line === '' || line.startsWith(' ');
    if (runsOn && !kept) paragraphs.push(`${paragraphs.pop()} ${line}`);
    else paragraphs.push(line);
    runsOn = !kept;
  }
  return paragraphs.flatMap((line) => (line.startsWith(' ') ? [line] : filled(line.split(' '), width)));
}

/** A command as lines that a shell reads as one: it is cut between its words, never in a quoted text. */
export function wrappedCommand(line: string, width: number): string[] {
  const words = line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  // What goes on takes two columns for the backslash, and begins further in.
  const lines = filled(words, width - 6);
  return lines.map((part, i) => `${i === 0 ? '' : '    '}${part}${i < lines.length - 1 ? ' \\' : ''}`);
}

function filled(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
