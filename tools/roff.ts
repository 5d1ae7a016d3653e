/** Formats text as roff, the language of man pages. */

/** Escapes text, so that it contains no roff commands. */
export function plain(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .split('\n')
    .map((line) => (/^[.']/.test(line) ? `\\&${line}` : line))
    .join('\n');
}

/** The head of a page. */
export function title(name: string, section: number, version: string): string {
  return `.TH "${name.toUpperCase()}" "${section}" "" "service ${version}" "Board service"`;
}

/** A section of a page; nothing when it is empty. */
export function section(name: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : [`.SH ${name}`, ...lines];
}

/** A term and what it means. */
export function entry(term: string, meaning: string): string[] {
  return [`.IP "\\fB${plain(term).replaceAll('"', '""')}\\fR"`, plain(meaning)];
}

/** Preformatted lines. */
export function literal(lines: string[]): string[] {
  return lines.length === 0 ? [] : ['.RS 4', '.nf', ...lines.map(plain), '.fi', '.RE'];
}
