/** Text as one argument of a command line. */

/** As POSIX shells read one argument. @param always quotes also what needs no quotes. */
export const shellArgument = (text: string, always = false): string =>
  !always && /^[A-Za-z0-9_./:@=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
