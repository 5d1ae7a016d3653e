/** Bytes as objects of an S3-compatible store: several server processes share them. Keys come from AWS_* variables only. */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { type Kept, stageIn, tidyStage } from './stage.ts';
import {
  BlobMissing,
  type BlobStore,
  type ByteRange,
  type Digest,
  type Entry,
  hexOf,
  type Staged,
  type StageOptions,
  StoreDown,
} from './store.ts';

const ATTEMPTS = 4;
const SHORT_MS = 30_000;
const LONG_MS = 900_000;
/** SHA-256 of nothing. */
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

interface S3Options {
  bucket: string;
  /** Without slashes at its ends; may be empty. */
  prefix: string;
  endpoint: string;
  region: string;
  /** The bucket stands in the path, not in the host's name. */
  pathStyle: boolean;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
  /** A private local folder. */
  stage: string;
  /** Waits this many milliseconds before a request is sent again. */
  sleep?: (ms: number) => Promise<unknown>;
}

interface Sent {
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  key: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  /** The file that is sent, and the SHA-256 of its bytes in hex. */
  file?: { path: string; hex: string; size: number };
  /** Asked before each attempt; what it throws ends the request. */
  confirm?: (() => Promise<void>) | undefined;
  /** Ends it. */
  signal?: AbortSignal | undefined;
}

export class S3Store implements BlobStore {
  readonly kind = 's3';
  readonly #options: S3Options;
  readonly #stopped = new AbortController();

  constructor(options: S3Options) {
    this.#options = options;
  }

  stage(source: AsyncIterable<Buffer>, options: StageOptions): Promise<Staged> {
    return stageIn(this.#options.stage, source, options, (kept) => this.#publish(kept));
  }

  async open(digest: Digest, range?: ByteRange, signal?: AbortSignal): Promise<Readable> {
    const headers: Record<string, string> = range ? { range: `bytes=${range.start}-${range.end}` } : {};
    const sent: Sent = { method: 'GET', key: this.#keyOf(digest), headers, signal };
    const answer = await this.#send(sent);
    if (answer.status === (range ? 206 : 200) && answer.body) return bytesOf(answer.body, sent);
    const refused = await this.#refused(answer, 'GET');
    throw isMissing(refused) ? new BlobMissing(digest) : refused;
  }

  async stat(digest: Digest): Promise<Omit<Entry, 'digest'> | null> {
    const answer = await this.#send({ method: 'HEAD', key: this.#keyOf(digest) });
    if (answer.status === 404) return null;
    if (!answer.ok) throw await this.#refused(answer, 'HEAD');
    const modifiedAt = Date.parse(answer.headers.get('last-modified') ?? '');
    return { size: Number(answer.headers.get('content-length')), modifiedAt };
  }

  async *list(): AsyncIterable<Entry> {
    const prefix = this.#under('sha256/');
    for (let token: string | null = null; ; ) {
      const query: Record<string, string> = {
        'list-type': '2',
        prefix,
        ...(token === null ? {} : { 'continuation-token': token }),
      };
      const answer = await this.#send({ method: 'GET', key: '', query });
      if (!answer.ok) throw await this.#refused(answer, 'LIST');
      const page = await answer.text().catch(() => '');
      for (const [, object = ''] of page.matchAll(/<Contents>([\s\S]*?)<\/Contents>/g)) {
        const hex = /^([0-9a-f]{64})$/.exec(textIn(object, 'Key').split('/').at(-1) ?? '')?.[1];
        if (hex === undefined) continue;
        const modifiedAt = Date.parse(textIn(object, 'LastModified'));
        yield { digest: `sha256:${hex}`, size: Number(textIn(object, 'Size')), modifiedAt };
      }
      token = textIn(page, 'NextContinuationToken') || null;
      const more = textIn(page, 'IsTruncated') === 'true';
      // What was cut off on the way, or is no list at all, would pass for a store that holds no more.
      if (!/<\/ListBucketResult>\s*$/.test(page) || (more && token === null))
        throw new StoreDown('the object store answered 200 to LIST, but not with a whole page');
      if (token === null) return;
    }
  }

  async delete(digest: Digest, confirm?: () => Promise<void>): Promise<void> {
    const answer = await this.#send({ method: 'DELETE', key: this.#keyOf(digest), confirm });
    if (answer.ok) return;
    const refused = await this.#refused(answer, 'DELETE');
    if (!isMissing(refused)) throw refused;
  }

  tidy(before: number): Promise<void> {
    return tidyStage(this.#options.stage, before);
  }

  stop(): void {
    this.#stopped.abort();
  }

  async close(): Promise<void> {}

  async #publish({ path, digest, size }: Kept): Promise<void> {
    if ((await this.stat(digest))?.size === size) return;
    const hex = hexOf(digest);
    const headers = {
      'content-type': 'application/octet-stream',
      // The store compares it with what arrived, and refuses what was damaged on the way.
      'x-amz-checksum-sha256': Buffer.from(hex, 'hex').toString('base64'),
    };
    const answer = await this.#send({ method: 'PUT', key: this.#keyOf(digest), headers, file: { path, hex, size } });
    if (!answer.ok) throw await this.#refused(answer, 'PUT');
    await answer.arrayBuffer();
  }

  /** What the store said, in its own code; not its text, which repeats whose key it was. */
  async #refused(answer: Response, what: string): Promise<Refused> {
    const { status, headers } = answer;
    const [code = ''] = /^\w{1,64}$/.exec(textIn(await answer.text().catch(() => ''), 'Code')) ?? [];
    const [region] = /^[a-z0-9-]{1,40}$/.exec(headers.get('x-amz-bucket-region') ?? '') ?? [];
    const elsewhere =
      region === undefined || region === this.#options.region ? '' : `; the bucket is in the region ${region}`;
    return new Refused(status, code, `${[status, code].join(' ').trim()} to ${what}${elsewhere}`);
  }

  #under(rest: string): string {
    const { prefix } = this.#options;
    return prefix === '' ? rest : `${prefix}/${rest}`;
  }

  #keyOf(digest: Digest): string {
    const hex = hexOf(digest);
    return this.#under(`sha256/${hex.slice(0, 2)}/${hex.slice(2, 4)}/${hex}`);
  }

  #urlOf(key: string, query: Record<string, string>): URL {
    const { bucket, endpoint, pathStyle } = this.#options;
    const url = new URL(endpoint);
    // Of the bucket itself some stores sign the path without a slash at its end; every store knows it so.
    if (pathStyle) url.pathname = key === '' ? `/${bucket}` : `/${bucket}/${key}`;
    else {
      url.hostname = `${bucket}.${url.hostname}`;
      url.pathname = `/${key}`;
    }
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  }

  /** Signed for each attempt anew; a store that is busy or away is asked again. */
  async #send(sent: Sent): Promise<Response> {
    const { sleep = setTimeout } = this.#options;
    const { signal: stopped } = this.#stopped;
    for (let attempt = 1; ; attempt++) {
      await sent.confirm?.();
      try {
        const answer = await this.#once(sent);
        if (answer.status < 500 || attempt === ATTEMPTS) return answer;
        await answer.body?.cancel();
      } catch (error) {
        if (attempt === ATTEMPTS || sent.signal?.aborted || stopped.aborted) throw unanswered(error, sent);
      }
      await sleep(200 * 2 ** attempt);
    }
  }

  async #once({ method, key, query = {}, headers = {}, file, signal: ended }: Sent): Promise<Response> {
    const { accessKeyId, secretAccessKey, sessionToken, region } = this.#options;
    const signer = new AwsV4Signer({
      method,
      url: this.#urlOf(key, query).toString(),
      headers: { ...headers, 'x-amz-content-sha256': file?.hex ?? EMPTY },
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === undefined ? {} : { sessionToken }),
      service: 's3',
      region,
    });
    const signed = await signer.sign();
    const limit = AbortSignal.timeout(file || method === 'GET' ? LONG_MS : SHORT_MS);
    const signal = AbortSignal.any([limit, this.#stopped.signal, ...(ended ? [ended] : [])]);
    if (!file) return fetch(signed.url, { method, headers: signed.headers, signal, redirect: 'manual' });
    signed.headers.set('content-length', String(file.size));
    const body = file.size === 0 ? '' : (Readable.toWeb(createReadStream(file.path)) as ReadableStream);
    const init = { method, headers: signed.headers, body, duplex: 'half', signal, redirect: 'manual' };
    return fetch(signed.url, init as RequestInit);
  }
}

/** What arrives. Where it breaks off, its error is that of a store that gives no answer. */
function bytesOf(body: ReadableStream, sent: Sent): Readable {
  const bytes = Readable.fromWeb(body as never);
  const end = bytes._destroy;
  bytes._destroy = (error, done) => end.call(bytes, error, (why) => done(why ? unanswered(why, sent) : null));
  return bytes;
}

const signs: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** What an element holds, such as a page's token, which is the store's own and may be anything. */
function textIn(xml: string, name: string): string {
  const held = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? '';
  return held.replaceAll(/&(?:#(\d{1,6})|#x([0-9a-f]{1,5})|(amp|lt|gt|quot|apos));/gi, (_all, decimal, hex, sign) =>
    sign ? (signs[sign.toLowerCase()] as string) : String.fromCodePoint(Number.parseInt(hex ?? decimal, hex ? 16 : 10)),
  );
}

class Refused extends StoreDown {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, said: string) {
    super(`the object store answered ${said}`);
    this.status = status;
    this.code = code;
  }
}

/** Not there, while the bucket that it would be in is. */
const isMissing = ({ status, code }: Refused): boolean => status === 404 && code !== 'NoSuchBucket';

/** The network's own words tell addresses and say nothing more. */
function unanswered(error: unknown, { method, key }: Sent): Error {
  const { name, cause } = error as Error;
  const { code = name } = (cause ?? {}) as NodeJS.ErrnoException;
  const what = key === '' ? 'LIST' : method;
  return new StoreDown(`the object store gave no answer to ${what}: ${code}`, { cause: error });
}
