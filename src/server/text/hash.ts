/** Hashes of the record: stored as 32 bytes and written with their algorithm. */
import { hash } from 'node:crypto';

/** Returns hex, which callers need anyway: a buffer would cost more. */
export const sha256 = (text: string): string => hash('sha256', text, 'hex');

export const hashText = (digest: Buffer): string => `sha256:${digest.toString('hex')}`;
