/** Hashes of the record: stored as 32 bytes and written with their algorithm. */
import { hash } from 'node:crypto';

export const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');

export const hashText = (digest: Buffer): string => `sha256:${digest.toString('hex')}`;

/** The same as hex: where that is needed too, it saves the platform a buffer of its own. */
export const sha256Hex = (text: string): string => hash('sha256', text, 'hex');
