/** Hashes of the record, stored as 32 bytes and written with their algorithm. */
export const hashText = (hash: Buffer): string => `sha256:${hash.toString('hex')}`;
