import { expect } from 'chai';
import fc from 'fast-check';
import { readJoinLine, writeJoinLine } from '../../src/contract/join-line.ts';

const code = '7Q4-K2M';
const write = (origin: string, role = 'reviewer') => writeJoinLine({ board: 'alpha', origin, role, code });

describe('a join line', () => {
  it('names a local server without its usual port, and any other by its host', () => {
    expect(write('http://127.0.0.1:7400')).to.equal(
      'Join service board alpha on localhost as reviewer with code 7Q4-K2M',
    );
    expect(write('http://127.0.0.1:7401')).to.include(' on localhost:7401 as ');
    expect(write('http://127.0.0.1')).to.include(' on localhost:80 as ');
    expect(write('https://team.example.com')).to.include(' on team.example.com as ');
    expect(write('https://team.example.com:8443', 'guest')).to.include(' on team.example.com:8443 as guest with ');
    expect(write('https://127.0.0.1:7400')).to.include(' on 127.0.0.1:7400 as ');
  });

  it('is read out of whatever stands around it', () => {
    const line = write('https://team.example.com:8443');
    const read = { board: 'alpha', origin: 'https://team.example.com:8443', role: 'reviewer', code };
    for (const text of [
      line,
      `Hi Ben,\nplease paste this:\n\n    ${line}\n\nThanks!`,
      `> ${line}.`,
      line.toUpperCase(),
      `${line}, and then ${write('https://evil.test')}`,
    ]) {
      expect(readJoinLine(text), text).to.deep.equal(text === line.toUpperCase() ? { ...read } : read);
    }
    expect(readJoinLine('join service board a on localhost as b with code 7q4k2m')).to.deep.equal({
      board: 'a',
      origin: 'http://127.0.0.1:7400',
      role: 'b',
      code: '7q4k2m',
    });
  });

  it('is not found where there is none, or where it names no possible server', () => {
    for (const text of [
      '',
      'Join service board alpha as reviewer with code 7Q4-K2M',
      'Join service board alpha on localhost as reviewer with code 7Q4-K2MX',
      'Join service board alpha on team.example.com/path as reviewer with code 7Q4-K2M',
      'Join service board alpha on user@host as reviewer with code 7Q4-K2M',
      'Join service board alpha on localhost:99999 as reviewer with code 7Q4-K2M',
      'Join service board alpha on [zz as reviewer with code 7Q4-K2M',
    ]) {
      expect(readJoinLine(text), text).to.equal(null);
    }
  });

  it('comes back as it was written, whatever it names', () => {
    const name = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,38}[a-z0-9]$/);
    const origin = fc.oneof(
      fc.integer({ min: 1, max: 65_535 }).map((port) => new URL(`http://127.0.0.1:${port}`).origin),
      fc.domain().map((host) => new URL(`https://${host}`).origin),
      fc.integer({ min: 1, max: 65_535 }).map((port) => new URL(`https://127.0.0.1:${port}`).origin),
      fc
        .tuple(fc.domain(), fc.integer({ min: 1, max: 65_535 }))
        .map(([host, port]) => new URL(`https://${host}:${port}`).origin),
    );
    fc.assert(
      fc.property(name, origin, name, (board, at, role) => {
        const line = { board, origin: at, role, code };
        expect(readJoinLine(`x ${writeJoinLine(line)} x`)).to.deep.equal(line);
      }),
    );
  });
});
