/** Certificates of a test's own, made with nothing but Node.js: X.509 in DER, signed with ECDSA over P-256. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

export interface CertificateOptions {
  name?: string;
  /** The hosts it is for; by default 127.0.0.1. */
  hosts?: ({ dns: string } | { ip: string })[];
  from?: Date;
  until?: Date;
  /** Who signs it; by default it is signed with its own key. */
  issuer?: Certificate;
}

export interface Certificate {
  /** As files and servers take them, in PEM. */
  cert: string;
  key: string;
  name: string;
  privateKey: KeyObject;
}

const DAY = 86_400_000;

/** Makes a key and a certificate for it, valid from yesterday until tomorrow unless something else is wished. */
export function makeCertificate(wish: CertificateOptions = {}): Certificate {
  const { name = 'a test', hosts = [{ ip: '127.0.0.1' }], issuer } = wish;
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const times = [wish.from ?? new Date(Date.now() - DAY), wish.until ?? new Date(Date.now() + DAY)];
  const body = sequence(
    der(0xa0, integer(2)),
    integer(1 + Math.floor(Math.random() * 0x7ffffffe)),
    ecdsaWithSha256,
    nameOf(issuer?.name ?? name),
    sequence(...times.map(utcTime)),
    nameOf(name),
    publicKey.export({ format: 'der', type: 'spki' }),
    der(0xa3, sequence(authority, alternativeNames(hosts))),
  );
  const signature = sign('sha256', body, issuer?.privateKey ?? privateKey);
  const whole = sequence(body, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature));
  const lines = whole.toString('base64').replaceAll(/.{64}/g, '$&\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    name,
    privateKey,
  };
}

function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: Buffer[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));

function integer(value: number): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return der(0x02, (bytes[0] as number) < 0x80 ? bytes : Buffer.concat([Buffer.from([0]), bytes]));
}

const utcTime = (time: Date): Buffer =>
  der(0x17, Buffer.from(`${time.toISOString().slice(2, 19).replaceAll(/[-:T]/g, '')}Z`));

/** A common name and nothing else. */
const nameOf = (name: string): Buffer => sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(name)))));

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
/** It may sign others. */
const authority = sequence(oid('551d13'), der(0x04, sequence(der(0x01, Buffer.from([0xff])))));

const alternativeNames = (hosts: ({ dns: string } | { ip: string })[]): Buffer =>
  sequence(
    oid('551d11'),
    der(
      0x04,
      sequence(
        ...hosts.map((host) =>
          'dns' in host ? der(0x82, Buffer.from(host.dns)) : der(0x87, Buffer.from(host.ip.split('.').map(Number))),
        ),
      ),
    ),
  );
