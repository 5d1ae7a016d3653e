/** Turns free text into a valid handle or key name. */

/** The text as a handle or key name of at most 40 characters; empty if no valid character remains. */
export const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '');
