import { expect } from 'chai';
import fc from 'fast-check';
import { readPreamble } from '../../src/server/http/connection/proxy-protocol.ts';
import { binary, binaryFrom, line } from '../support/preamble.ts';

const read = (bytes: string | Buffer) => readPreamble(Buffer.from(bytes as string));
const GET = 'GET /v1/info HTTP/1.1\r\n\r\n';
const nothing = Buffer.alloc(0);

const good: [string, string | Buffer, string | null][] = [
  ['TCP4', line('203.0.113.9'), '203.0.113.9'],
  ['TCP6', line('2001:db8::9'), '2001:db8::9'],
  [
    'the longest line',
    `PROXY TCP6 ${'ffff:'.repeat(7)}ffff ${'ffff:'.repeat(7)}ffff 65535 65535\r\n`,
    `${'ffff:'.repeat(7)}ffff`,
  ],
  ['UNKNOWN', 'PROXY UNKNOWN\r\n', null],
  ['UNKNOWN with more', `PROXY UNKNOWN ${'ffff:'.repeat(7)}ffff ${'ffff:'.repeat(7)}ffff 65535 65535\r\n`, null],
  ['version 2 of IPv4', binaryFrom('203.0.113.9'), '203.0.113.9'],
  ['version 2 of IPv6', binaryFrom([0x2001, 0xdb8, 0, 0, 0, 0, 0, 9]), '2001:db8::9'],
  ['version 2 with more than the address', binaryFrom('203.0.113.9', Buffer.alloc(300, 3)), '203.0.113.9'],
  ['the proxy itself', binary(0x20, 0x00, nothing), null],
  ['the proxy itself, with an address', binary(0x20, 0x11, Buffer.alloc(12, 8)), null],
  ['version 2 of nothing', binary(0x21, 0x00, nothing), null],
  ['version 2 of a UNIX socket', binary(0x21, 0x31, Buffer.alloc(216)), null],
  ['version 2 of UDP', binary(0x21, 0x12, Buffer.alloc(12)), null],
];

const wrong: [string, string | Buffer][] = [
  ['a request', GET],
  ['TLS', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00])],
  ['lower case', 'proxy TCP4 1.2.3.4 1.2.3.4 1 2\r\n'],
  ['no second space', 'PROXYTCP4 1.2.3.4'],
  ['an unknown family', 'PROXY TCP5 1.2.3.4 1.2.3.4 1 2\r\n'],
  ['UNKNOWN with a tail', 'PROXY UNKNOWNx\r\n'],
  ['IPv6 as TCP4', 'PROXY TCP4 ::1 ::1 1 2\r\n'],
  ['IPv4 as TCP6', 'PROXY TCP6 1.2.3.4 1.2.3.4 1 2\r\n'],
  ['an interface', 'PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n'],
  ['no address', 'PROXY TCP4 1.2.3 1.2.3.4 1 2\r\n'],
  ['an address with zeros in front', 'PROXY TCP4 01.2.3.4 1.2.3.4 1 2\r\n'],
  ['a port too many', 'PROXY TCP4 1.2.3.4 1.2.3.4 1 2 3\r\n'],
  ['a port too few', 'PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n'],
  ['a port out of range', 'PROXY TCP4 1.2.3.4 1.2.3.4 65536 2\r\n'],
  ['a port with a sign', 'PROXY TCP4 1.2.3.4 1.2.3.4 +1 2\r\n'],
  ['two spaces', 'PROXY TCP4  1.2.3.4 1.2.3.4 1 2\r\n'],
  ['a header in the line', 'PROXY TCP4 1.2.3.4\rX-A: b 1.2.3.4 1 2\r\n'],
  ['a line without an end', `PROXY UNKNOWN ${'x'.repeat(93)}`],
  ['a line too long', `PROXY UNKNOWN ${'x'.repeat(92)}\r\n`],
  ['another version', binary(0x11, 0x11, Buffer.alloc(12))],
  ['another command', binary(0x22, 0x11, Buffer.alloc(12))],
  ['another family', binary(0x21, 0x41, Buffer.alloc(12))],
  ['too short for IPv4', binary(0x21, 0x11, Buffer.alloc(11))],
  ['too short for IPv6', binary(0x21, 0x21, Buffer.alloc(35))],
  ['a length that would never come', binary(0x21, 0x11, nothing, 65_535)],
];

describe('the PROXY protocol', () => {
  for (const [what, bytes, address] of good)
    it(`reads ${what}, in whatever pieces it comes, and nothing after it`, () => {
      const whole = Buffer.from(bytes as string);
      expect(read(whole)).to.deep.equal({ length: whole.length, address });
      expect(read(Buffer.concat([whole, Buffer.from(GET)]))).to.deep.equal({ length: whole.length, address });
      for (let cut = 0; cut < whole.length; cut++) expect(read(whole.subarray(0, cut)), `${cut}`).to.equal('more');
    });

  for (const [what, bytes] of wrong) it(`refuses ${what}`, () => expect(read(bytes)).to.equal('wrong'));

  it('decides about any bytes by their first few thousand, without failing', () => {
    const signatures = [Buffer.from('PROXY '), binary(0x21, 0x11, nothing).subarray(0, 12), nothing];
    fc.assert(
      fc.property(fc.constantFrom(...signatures), fc.uint8Array({ maxLength: 5_000 }), (signature, tail) => {
        const bytes = Buffer.concat([signature, tail]);
        const found = readPreamble(bytes);
        if (bytes.length >= 4_112) expect(found).not.to.equal('more');
        if (typeof found === 'object') expect(found.length).to.be.at.most(bytes.length);
      }),
    );
  });
});
