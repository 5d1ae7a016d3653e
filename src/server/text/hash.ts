/** Hashes of the record: stored as 32 bytes and written with their algorithm. */
import { hash } from 'node:crypto';

/** As hex, which whoever hashes needs anyway: the platform makes a buffer of its own at a higher cost. */
export const sha256 = (text: string): string => hash('sha256', text, 'hex');

export const hashText = (digest: Buffer): string => `sha256:${digest.toString('hex')}`;
