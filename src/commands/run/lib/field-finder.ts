/** Finds a field in the JSON that a program prints, as one object or as lines. */
import { parseJson } from '../../../local/json.ts';

const MOST = 1024 * 1024;
const ID = /^[A-Za-z0-9._-]{1,200}$/;

interface Sought {
  /** A field of the outermost object; with a point one of an object in it, such as `item.text`. */
  field: string;
  /** What the object with the field says as its `type`; left out: anything. */
  type?: string | undefined;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isId = (value: unknown): value is string => isText(value) && ID.test(value);
const isAmount = (value: unknown): value is number => typeof value === 'number' && value >= 0;

/** @typeParam Value what the field may hold; anything else is passed over. */
export class FieldFinder<Value = string> {
  readonly #sought: Sought;
  readonly #names: string[];
  #line = '';
  #whole = '';
  #found: Value | null = null;
  readonly #fits: (value: unknown) => value is Value;

  constructor(sought: Sought, fits = isText as (value: unknown) => value is Value) {
    this.#sought = sought;
    this.#fits = fits;
    this.#names = sought.field.split('.');
  }

  /** @param field of the outermost object; empty finds nothing. */
  static ofId = (field: string): FieldFinder => new FieldFinder({ field }, isId);

  /** A number that is not below zero. */
  static ofAmount = (field: string): FieldFinder<number> => new FieldFinder({ field }, isAmount);

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

  /** The last one that was found; null where there was none. */
  value(): Value | null {
    this.#look(this.#line);
    if (this.#found === null && this.#whole.length <= MOST) this.#look(this.#whole);
    return this.#found;
  }

  /** A line that is longer than any that is of interest is let go. */
  #add(text: string): void {
    if (this.#line.length <= MOST) this.#line += text;
  }

  #look(text: string): void {
    const { field, type } = this.#sought;
    const name = this.#names.at(-1)!;
    if (field === '' || text.length > MOST || !text.includes(name)) return;
    const holder = this.#names.slice(0, -1).reduce(within, parseJson(text));
    const value = within(holder, name);
    const ofType = type === undefined || within(holder, 'type') === type;
    if (ofType && this.#fits(value)) this.#found = value;
  }
}

const within = (value: unknown, name: string): unknown => (value as Record<string, unknown> | null | undefined)?.[name];
