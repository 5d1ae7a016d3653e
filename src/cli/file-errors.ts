/** Describes file system errors in words. */
const reasons: Record<string, string> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of its path is no folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
};

/** The reason of an error of the file system; its code where there are no words for it. */
export function reasonOf(error: unknown): string {
  const { code = 'unknown' } = error as NodeJS.ErrnoException;
  return reasons[code] ?? code;
}
