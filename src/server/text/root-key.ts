/**
 * The server's root key, and what is derived from it: digests of secrets, and the sealing of kept answers that hold one.
 * Sub-keys by HKDF-SHA-256 (RFC 5869).
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

const REMEMBERED = 1_000;

export class RootKey {
  readonly #secret: Buffer;
  readonly #digestKey: Buffer;
  readonly #tokens = new Map<string, Buffer>();
  readonly #idempotencyKey: Buffer;
  readonly #csrfKey: Buffer;

  /** @param secret 32 bytes, the content of `<data>/server-secret`. */
  constructor(secret: Buffer) {
    if (secret.length !== 32) throw new Error('the root key must have 32 bytes');
    this.#secret = secret;
    this.#digestKey = subKey(secret, 'service/digest/v1');
    this.#idempotencyKey = subKey(secret, 'service/idem/v1');
    this.#csrfKey = subKey(secret, 'service/csrf/v1');
  }

  /** A 32-byte key for one purpose, bound to what `salt` names. */
  derive(label: string, salt: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#secret, Buffer.from(salt, 'utf8'), label, 32));
  }

  /** The 32-byte keyed digest under which a secret is stored and found. */
  digest(secret: string): Buffer {
    return createHmac('sha256', this.#digestKey).update(secret, 'utf8').digest();
  }

  /** The digest of a token that comes with every request: the last ones are remembered. */
  tokenDigest(token: string): Buffer {
    const known = this.#tokens.get(token);
    if (known) return known;
    if (this.#tokens.size >= REMEMBERED) this.#tokens.clear();
    const digest = this.digest(token);
    this.#tokens.set(token, digest);
    return digest;
  }

  /** The token that a browser session's page sends with every write: derived, so that it is stored nowhere. 43 characters. */
  csrfToken(sessionSecret: string): string {
    return createHmac('sha256', this.#csrfKey).update(sessionSecret, 'utf8').digest('base64url');
  }

  /** Told the database once, so that a server with another root key refuses to start. */
  keyCheck(): string {
    return this.digest('key-check').toString('hex');
  }

  /**
   * Seals an answer so that neither the database nor the root key alone reveals it: the key is drawn from the token
   * that was presented. AES-256-GCM; nonce (12 bytes), ciphertext and tag (16 bytes) in one buffer.
   */
  seal(body: Buffer, token: string, scope: Buffer, key: string, requestHash: Buffer): Buffer {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.#sealKey(token, scope, key), nonce).setAAD(requestHash);
    return Buffer.concat([nonce, cipher.update(body), cipher.final(), cipher.getAuthTag()]);
  }

  /** Opens what `seal` made. @throws Error when anything differs. */
  open(sealed: Buffer, token: string, scope: Buffer, key: string, requestHash: Buffer): Buffer {
    const decipher = createDecipheriv('aes-256-gcm', this.#sealKey(token, scope, key), sealed.subarray(0, 12));
    decipher.setAAD(requestHash).setAuthTag(sealed.subarray(-16));
    return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]);
  }

  #sealKey(token: string, scope: Buffer, key: string): Buffer {
    const info = Buffer.concat([scope, Buffer.from(key, 'utf8')]);
    return Buffer.from(hkdfSync('sha256', this.#idempotencyKey, Buffer.from(token, 'utf8'), info, 32));
  }
}

function subKey(secret: Buffer, label: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), label, 32));
}
