/** Finds a field in what a program prints as JSON: one object, or one a line. */

const MOST = 1024 * 1024;
const ID = /^[A-Za-z0-9._-]{1,200}$/;

export class FieldFinder {
  readonly #field: string;
  #line = '';
  #whole = '';
  #found: string | null = null;

  /** @param field of the outermost object; empty finds nothing. */
  constructor(field: string) {
    this.#field = field;
  }

  /** The next part of the output, in any pieces. */
  read(part: string): void {
    if (this.#whole.length <= MOST) this.#whole += part;
    const [first = '', ...more] = part.split('\n');
    this.#add(first);
    for (const line of more) {
      this.#look(this.#line);
      this.#line = '';
      this.#add(line);
    }
  }

  /** The last id that was found; null where there was none. */
  value(): string | null {
    this.#look(this.#line);
    if (this.#found === null && this.#whole.length <= MOST) this.#look(this.#whole);
    return this.#found;
  }

  /** A line that is longer than any that is of interest is let go. */
  #add(text: string): void {
    if (this.#line.length <= MOST) this.#line += text;
  }

  #look(text: string): void {
    if (this.#field === '' || text.length > MOST || !text.includes(this.#field)) return;
    try {
      const value: unknown = (JSON.parse(text) as Record<string, unknown> | null)?.[this.#field];
      if (typeof value === 'string' && ID.test(value)) this.#found = value;
    } catch {
      // No JSON, or not all of it.
    }
  }
}
