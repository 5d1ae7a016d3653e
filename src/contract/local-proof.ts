/**
 * How the server of this machine proves that it runs on a data folder, before anybody sends it that folder's key: it
 * answers a challenge with what only the folder's secret gives. The address is part of it, so that nobody who listens
 * elsewhere can pass the challenge on and use the answer.
 */

/** Header of a request for `GET /v1/info`: 32 random bytes in base64url. */
export const CHALLENGE_HEADER = 'x-service-challenge';
/** Header of its answer: 32 bytes in base64url. */
export const PROOF_HEADER = 'x-service-proof';
/** A proof is HKDF-SHA-256 of the folder's secret with this label and a salt. */
export const PROOF_LABEL = 'service/local-proof/v1';

/** The salt of a proof. @param origin where the server listens, such as `http://127.0.0.1:7400`. */
export const proofSalt = (challenge: string, origin: string): string => `${challenge} ${origin}`;

/** Whether a text is a well-formed challenge. */
export const isChallenge = (text: unknown): text is string =>
  typeof text === 'string' && /^[A-Za-z0-9_-]{43}$/.test(text);
