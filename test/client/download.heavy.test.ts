/** Bytes of a file from servers that send more of them than a file may have, or a few at a time. */
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { Client } from '../../src/client/client.ts';
import { download } from '../../src/client/download.ts';
import { ClientError } from '../../src/client/errors.ts';
import { MAX_FILE } from '../../src/contract/values.ts';
import { closeServers, serve } from './support.ts';

const MIB = 1_048_576;
const facts = { ETag: `"sha256:${'0'.repeat(64)}"`, 'X-Service-File-Version': '1', 'X-Service-File-Id': 'fil_1' };

/** What arrives, and how it ends. */
async function get(origin: string) {
  let bytes = 0;
  const sink = {
    write(chunk: Uint8Array) {
      bytes += chunk.length;
    },
    restart() {
      bytes = 0;
    },
  };
  const client = new Client({ origin, token: 'abh_x', random: () => 0 });
  const ended = await download(client, { board: 'general', file: 'big.bin', version: 1 }, sink).catch(
    (error: unknown) => error as ClientError,
  );
  return { bytes, ended };
}

describe('a download', () => {
  afterEach(closeServers);

  it('that is announced with more than a file may have is refused before a byte is taken', async () => {
    const { origin, seen } = await serve((_, response) => {
      response.writeHead(200, { ...facts, 'Content-Length': String(MAX_FILE + 1) });
      response.write(Buffer.alloc(MIB));
    });
    const { bytes, ended } = await get(origin);
    expect(ended).to.be.instanceOf(ClientError).and.include({ code: 'response_too_large' });
    expect([bytes, seen.length]).to.deep.equal([0, 1]);
  });

  it('that goes on without an end, and announces none, is left when it is more than a file may have', async () => {
    const { origin, seen } = await serve((_, response) => {
      response.writeHead(200, facts);
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(MIB)));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    const { bytes, ended } = await get(origin);
    expect(ended).to.include({ code: 'response_too_large' });
    expect([bytes <= MAX_FILE, seen.length]).to.deep.equal([true, 1]);
  });

  it('that grows when it is unpacked is left at the same point', async () => {
    const packed = gzipSync(Buffer.alloc(MAX_FILE + MIB));
    const { origin } = await serve((_, response) => {
      response.writeHead(200, { ...facts, 'Content-Encoding': 'gzip', 'Content-Length': String(packed.length) });
      response.end(packed);
    });
    const { bytes, ended } = await get(origin);
    expect(ended).to.include({ code: 'response_too_large' });
    expect(bytes <= MAX_FILE).to.equal(true);
  });

  it('that was taken up again may not have more either', async () => {
    const { origin, seen } = await serve((_, response, count) => {
      response.writeHead(count === 1 ? 200 : 206, { ...facts, 'Content-Length': String(MAX_FILE) });
      response.write(Buffer.alloc(MIB), () => count === 1 && response.destroy());
    });
    const { ended } = await get(origin);
    expect(ended).to.include({ code: 'response_too_large' });
    expect(seen.length).to.equal(2);
  });

  it('goes on for as long as each connection brings some of it, and is given up after four that bring nothing', async () => {
    let pieces = 12;
    const { origin, seen } = await serve(({ headers }, response) => {
      const from = Number(/^bytes=(\d+)-$/.exec(String(headers.range))?.[1] ?? 0);
      response.writeHead(from > 0 ? 206 : 200, { ...facts, 'Content-Length': String(100 - from) });
      if (from < pieces) response.write('a', () => response.destroy());
      else if (pieces === 12) response.end('a'.repeat(100 - from));
      else response.destroy();
    });
    const whole = await get(origin);
    expect([whole.bytes, (whole.ended as { size: number }).size, seen.length]).to.deep.equal([100, 100, 13]);
    pieces = 3;
    const { ended } = await get(origin);
    expect(ended).to.be.instanceOf(ClientError).and.include({ code: 'server_unreachable' });
    expect(seen.length - 13).to.equal(7);
  });

  it('is asked for unpacked, and is taken where a proxy packs it and makes its tag a weak one', async () => {
    const packed = gzipSync(Buffer.from('abcde'));
    const { origin, seen } = await serve((_, response) => {
      response.writeHead(200, { ...facts, ETag: `W/${facts.ETag}`, 'Content-Encoding': 'gzip' });
      response.end(packed);
    });
    const { bytes, ended } = await get(origin);
    expect([bytes, (ended as { digest: string }).digest]).to.deep.equal([5, `sha256:${'0'.repeat(64)}`]);
    expect(seen[0]?.headers['accept-encoding']).to.equal('identity');
  });

  it('of no announced size has the size that came', async () => {
    const { origin } = await serve((_, response) => {
      response.writeHead(200, facts);
      response.write('abc');
      response.end('de');
    });
    const { bytes, ended } = await get(origin);
    expect([bytes, (ended as { size: number }).size]).to.deep.equal([5, 5]);
  });
});
