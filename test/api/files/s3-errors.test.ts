/** What S3 itself answers when something is wrong: a key, a bucket, a region, too many requests, the network. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { S3Store } from '../../../src/server/blobs/s3.ts';
import { BlobMissing, type Entry } from '../../../src/server/blobs/store.ts';
import { scanFile } from '../../../src/server/text/file-scan.ts';
import { answerElsewhere, nock } from '../../support/elsewhere.ts';
import { startObjects } from '../../support/objects.ts';

const keys = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  sessionToken: 'FwoGZXIvYXdzEXAMPLETOKEN',
};
const bucket = 'https://team-files.s3.eu-west-1.amazonaws.com';
const bytes = Buffer.from('some bytes');
const hex = (n: number) => String(n).repeat(64);
const keyOf = (n: number) => `/files/sha256/${n}${n}/${n}${n}/${hex(n)}`;
const ours = /^\/files\/sha256\//;
const xml = { 'Content-Type': 'application/xml' };

/** As S3 words it: it tells back which key was used, and what was to be signed. */
const refusal = (code: string, more = '') =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>It is ${code}.</Message>${more}` +
  `<AWSAccessKeyId>${keys.accessKeyId}</AWSAccessKeyId><RequestId>656c76696e6727732072657175657374</RequestId></Error>`;

const entry = (n: number) =>
  `<Contents><Key>files/sha256/${n}${n}/${n}${n}/${hex(n)}</Key><LastModified>2026-03-01T09:00:00.000Z</LastModified><Size>${n}</Size></Contents>`;
const page = (entries: number[], token = '') =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>team-files</Name>` +
  `${token && `<NextContinuationToken>${token}</NextContinuationToken>`}<IsTruncated>${token !== ''}</IsTruncated>` +
  `${entries.map(entry).join('')}</ListBucketResult>\n`;

describe('files in S3, when it refuses', () => {
  answerElsewhere();
  const stage = mkdtempSync(join(tmpdir(), 'board-service-s3-'));
  after(() => rmSync(stage, { recursive: true }));

  let waits: number[];
  let store: S3Store;
  beforeEach(() => {
    waits = [];
    store = new S3Store({
      ...keys,
      bucket: 'team-files',
      prefix: 'files',
      endpoint: 'https://s3.eu-west-1.amazonaws.com',
      region: 'eu-west-1',
      pathStyle: false,
      stage,
      sleep: async (ms) => void waits.push(ms),
    });
  });

  const open = async () => text(await store.open(`sha256:${hex(1)}`));
  const list = async () => {
    const found: Entry[] = [];
    for await (const each of store.list()) found.push(each);
    return found.map(({ size }) => size);
  };
  const publish = async () => {
    const staged = await store.stage(
      (async function* () {
        yield bytes;
      })(),
      { maxBytes: 100, scan: scanFile() },
    );
    await staged.publish().finally(() => staged.discard());
  };
  const uses = {
    GET: open,
    LIST: list,
    PUT: publish,
    HEAD: () => store.stat(`sha256:${hex(1)}`),
    DELETE: () => store.delete(`sha256:${hex(1)}`),
  };

  /** What an error says, with all its causes; nothing of it shows a key. */
  async function failure(use: Promise<unknown>): Promise<string> {
    const error = await use.then(
      () => new Error('it succeeded'),
      (reason: Error) => reason,
    );
    const all = inspect(error, { depth: 20, showHidden: true });
    for (const secret of Object.values(keys)) expect(all).to.not.include(secret);
    const { message, cause } = error;
    expect(message).to.match(/^the object store /);
    if (cause !== undefined) expect(message).to.not.include((cause as Error).message);
    return message;
  }

  /** S3 says so to every request. */
  const always = (status: number, body: string, headers: Record<string, string> = {}) => {
    const any = nock(bucket).persist();
    const all = { ...xml, ...headers };
    any.head(ours).reply(status, undefined, all);
    for (const path of [ours, /^\/\?list-type=2/]) any.get(path).reply(status, body, all);
    any.put(ours).reply(status, body, all);
    any.delete(ours).reply(status, body, all);
  };

  it('names the status and the code of AccessDenied, and never a key', async () => {
    always(403, refusal('AccessDenied'));
    for (const what of ['GET', 'LIST', 'DELETE'] as const)
      expect(await failure(uses[what]())).to.equal(`the object store answered 403 AccessDenied to ${what}`);
    for (const what of ['HEAD', 'PUT'] as const)
      expect(await failure(uses[what]())).to.equal('the object store answered 403 to HEAD');
    expect(waits).to.deep.equal([]);
  });

  it('takes for a code only what looks like one', async () => {
    always(403, `<Error><Code>key ${keys.accessKeyId} of ${'x'.repeat(5_000)}</Code></Error>`);
    expect(await failure(list())).to.equal('the object store answered 403 to LIST');
  });

  it('does not take a missing bucket for missing bytes', async () => {
    always(404, refusal('NoSuchBucket', '<BucketName>team-files</BucketName>'));
    for (const what of ['GET', 'LIST', 'PUT', 'DELETE'] as const)
      expect(await failure(uses[what]())).to.equal(`the object store answered 404 NoSuchBucket to ${what}`);
  });

  it('finds nothing, and deletes nothing, where there are no bytes', async () => {
    always(404, refusal('NoSuchKey'));
    expect(await open().catch((error: unknown) => error)).to.be.instanceOf(BlobMissing);
    expect(await store.stat(`sha256:${hex(1)}`)).to.equal(null);
    await store.delete(`sha256:${hex(1)}`);
  });

  it('asks again, later each time, when it is to slow down', async () => {
    const slow = () => [503, refusal('SlowDown'), xml] as const;
    nock(bucket)
      .get(keyOf(1))
      .times(2)
      .reply(...slow());
    nock(bucket).get(keyOf(1)).reply(200, 'here');
    expect(await open()).to.equal('here');
    expect(waits).to.deep.equal([400, 800]);

    const sent: string[] = [];
    nock(bucket).head(ours).reply(404);
    nock(bucket)
      .on('request', (_request: Request, _interceptor: unknown, body: string) => sent.push(body))
      .put(ours)
      .reply(...slow())
      .put(ours)
      .reply(200);
    await publish();
    expect(sent).to.deep.equal(Array(2).fill(String(bytes)));
  });

  it('gives up after four times', async () => {
    always(503, refusal('SlowDown'));
    expect(await failure(list())).to.equal('the object store answered 503 SlowDown to LIST');
    expect(waits).to.deep.equal([400, 800, 1600]);
  });

  it('deletes nothing after it may no longer', async () => {
    nock(bucket).delete(keyOf(1)).reply(503, refusal('SlowDown'), xml);
    let asked = 0;
    const confirm = async () => {
      if (++asked > 1) throw new Error('no longer');
    };
    const refused = await store.delete(`sha256:${hex(1)}`, confirm).catch((error: Error) => error.message);
    expect(refused).to.equal('no longer');
    expect([asked, waits, nock.isDone()]).to.deep.equal([2, [400], true]);
  });

  it('follows no redirect to another region, but names the region', async () => {
    const headers = { 'x-amz-bucket-region': 'us-west-2' };
    const endpoint = 'team-files.s3.us-west-2.amazonaws.com';
    always(301, refusal('PermanentRedirect', `<Endpoint>${endpoint}</Endpoint>`), headers);
    const is = '; the bucket is in the region us-west-2';
    for (const what of ['GET', 'LIST', 'DELETE'] as const)
      expect(await failure(uses[what]())).to.equal(`the object store answered 301 PermanentRedirect to ${what}${is}`);
    expect(await failure(store.stat(`sha256:${hex(1)}`))).to.equal(`the object store answered 301 to HEAD${is}`);
    nock.cleanAll();
    always(307, refusal('TemporaryRedirect'), { Location: `https://${endpoint}/` });
    expect(await failure(open())).to.equal('the object store answered 307 TemporaryRedirect to GET');
    expect(waits).to.deep.equal([]);
  });

  it('asks again when the connection is reset, and names that when it goes on', async () => {
    const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });
    nock(bucket).get(keyOf(1)).replyWithError(reset);
    nock(bucket).get(keyOf(1)).reply(200, 'here');
    expect(await open()).to.equal('here');
    nock(bucket).get(keyOf(1)).times(4).replyWithError(reset);
    expect(await failure(open())).to.equal('the object store gave no answer to GET: ECONNRESET');
    expect(waits).to.deep.equal([400, 400, 800, 1600]);
  });

  it('reads a list page by page', async () => {
    nock(bucket)
      .get('/')
      .query({ 'list-type': '2', prefix: 'files/sha256/' })
      .reply(200, page([1, 2], 'a&amp;b'));
    nock(bucket)
      .get('/')
      .query({ 'list-type': '2', prefix: 'files/sha256/', 'continuation-token': 'a&b' })
      .reply(200, page([3]));
    expect(await list()).to.deep.equal([1, 2, 3]);
  });

  it('does not take a part of a page for the whole of it', async () => {
    const whole = page([1, 2, 3], 'more');
    const withoutToken = whole.replace(/<NextContinuationToken>.*<\/NextContinuationToken>/, '');
    for (const part of [whole.slice(0, whole.indexOf(entry(3))), withoutToken, '<html>hello</html>', '']) {
      nock(bucket)
        .get(/^\/\?list-type=2/)
        .reply(200, part, xml);
      expect(await failure(list()), part).to.equal('the object store answered 200 to LIST, but not with a whole page');
    }
    async function* broken() {
      yield whole.slice(0, 500);
      throw new Error('the connection broke');
    }
    nock(bucket)
      .get(/^\/\?list-type=2/)
      .reply(200, () => Readable.from(broken()), xml);
    expect(await failure(list())).to.equal('the object store answered 200 to LIST, but not with a whole page');
  });
});

describe('files in S3, on the way', () => {
  /** A store whose answers begin with ten of a hundred bytes. */
  async function startHalf(then: (res: ServerResponse) => void) {
    const server = createServer((_req, res) => {
      res.writeHead(200, { 'Content-Length': 100 });
      res.write('some bytes', () => then(res));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const options = { bucket: 'bucket', prefix: '', endpoint, region: 'us-east-1', pathStyle: true, stage: '.' };
    return { server, bytes: await new S3Store({ ...keys, ...options }).open(`sha256:${hex(1)}`) };
  }

  it('are refused as those of a store that is away, where they break off', async () => {
    const { server, bytes } = await startHalf((res) => res.destroy());
    const cut = await text(bytes).catch(String);
    server.close();
    expect(cut).to.equal('StoreDown: the object store gave no answer to GET: UND_ERR_SOCKET');
  });

  it('end at once where nobody reads them any more, though the store says nothing', async () => {
    const gone = Promise.withResolvers<void>();
    const { server, bytes } = await startHalf((res) => res.on('close', () => gone.resolve()));
    await once(bytes, 'data');
    // By then it waits for more.
    await setImmediate();
    bytes.destroy();
    await gone.promise;
    server.close();
  });
});

describe('files in S3, in a command', () => {
  it('keep it running while it waits to ask again', async () => {
    const objects = await startObjects();
    objects.busy = 1;
    const options = { bucket: 'bucket', prefix: '', endpoint: objects.endpoint, region: 'us-east-1', pathStyle: true };
    const home = new URL('../../../src/server/blobs/s3.ts', import.meta.url).href;
    const script = `
      const { S3Store } = await import(${JSON.stringify(home)});
      const store = new S3Store({ ...${JSON.stringify(options)}, accessKeyId: 'key', secretAccessKey: 's', stage: '.' });
      for await (const each of store.list()) throw new Error('it is empty');
      console.log('listed');`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect(said).to.equal('listed\n');
    await objects.close();
  });
});
