/** Which texts of a message are searched. */

export interface SearchedMessage {
  body: string;
  ask?: { options: string[]; going_with: string | null } | undefined;
  files?: { name: string }[] | undefined;
}

export interface Field {
  name: 'body' | 'ask' | 'files';
  text: string;
}

/** The fields that a message has, each part on a line of its own: what it says, what it offers, what is attached. */
export function searchedFields({ body, ask, files = [] }: SearchedMessage): Field[] {
  const offered = ask ? [...ask.options, ...(ask.going_with === null ? [] : [ask.going_with])] : [];
  return [
    { name: 'body', text: body },
    ...(offered.length === 0 ? [] : [{ name: 'ask' as const, text: offered.join('\n') }]),
    ...(files.length === 0 ? [] : [{ name: 'files' as const, text: files.map(({ name }) => name).join('\n') }]),
  ];
}
