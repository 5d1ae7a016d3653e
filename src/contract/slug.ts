/** What names of people, keys and machines are made of when somebody else chose the words. */

/** The nearest handle or key name to a text, at most 40 characters; empty where nothing is left of it. */
export const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '');
