/** Most bytes a file may have; one more is 413 `file_too_large`. Apart from the schemas, which a short command does not load. */
export const MAX_FILE = 52_428_800;
