/** Which texts of messages, tasks and files are searched. */

export interface SearchedMessage {
  body: string;
  ask?: { options: string[]; going_with: string | null } | undefined;
  files?: { name: string }[] | undefined;
}

interface SearchedTask {
  ref: string;
  title: string;
  closed_note: string | null;
}

/** Latest versions of those that were written. */
type TaskTexts = { about?: { text: string }; stands?: { text: string } };

interface SearchedFile {
  name: string;
  /** Of the latest version; empty: it is no text, or too long. */
  text: string;
}

export interface Field {
  name: 'body' | 'ask' | 'files' | 'ref' | 'title' | 'about' | 'stands' | 'note' | 'name' | 'text';
  text: string;
  /** Each line is a text of its own: a phrase does not go from one to the next. */
  list?: true;
}

/** The fields that a message has: what it says, what it offers, what is attached. */
export function searchedFields({ body, ask, files = [] }: SearchedMessage): Field[] {
  const offered = ask ? [...ask.options, ...(ask.going_with === null ? [] : [ask.going_with])] : [];
  return [
    { name: 'body', text: body },
    ...list('ask', offered),
    ...list(
      'files',
      files.map(({ name }) => name),
    ),
  ];
}

const list = (name: Field['name'], texts: string[]): Field[] =>
  texts.length === 0 ? [] : [{ name, text: texts.join('\n'), list: true }];

/** The fields of a task that were written. */
export function taskFields({ ref, title, closed_note }: SearchedTask, { about, stands }: TaskTexts = {}): Field[] {
  const texts = { ref, title, about: about?.text, stands: stands?.text, note: closed_note };
  return (['ref', 'title', 'about', 'stands', 'note'] as const).flatMap((name) => {
    const text = texts[name];
    return text ? [{ name, text }] : [];
  });
}

/** The fields of a file: its path, and what it says. */
export const fileFields = ({ name, text }: SearchedFile): Field[] => [
  { name: 'name', text: name },
  ...(text === '' ? [] : [{ name: 'text' as const, text }]),
];
