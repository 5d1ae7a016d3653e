/** The daemon's view of credentials.json: kept while the file is the same, refused where others could have touched it. */
import { chmodSync, chownSync, renameSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Failure } from '../../src/local/failure.ts';
import { credentialsPath } from '../../src/local/keys/credentials.ts';
import { keychain } from '../../src/local/keys/keychain.ts';
import { writePrivate } from '../../src/local/private-file.ts';
import { Api } from '../support/api.ts';
import type { Agent } from '../support/cast.ts';
import { until } from '../support/until.ts';
import { Machine } from './world.ts';

const ORIGIN = 'https://boards.example.com';
const BOARD = { id: 'brd_01K5A0000000000000000000B1', name: 'payments' };
const agent = (token: string) =>
  Object.assign(new Api(ORIGIN, token), { memberId: 'mem_01K5A0000000000000000000M1', name: 'claude' }) as Agent;

describe('the daemon’s credentials', () => {
  let machine: Machine;
  const path = () => credentialsPath(machine.folders);
  const token = () => machine.credentials.token(ORIGIN, 'mem_01K5A0000000000000000000M1');

  beforeEach(async () => {
    machine = new Machine();
    await machine.knows(ORIGIN, 'srv_1', new Api(ORIGIN, 'abh_maya'));
    await machine.holds(ORIGIN, BOARD, agent('aba_one'));
  });
  afterEach(() => machine.close());

  function linkAway(): void {
    renameSync(path(), `${path()}.moved`);
    symlinkSync(`${path()}.moved`, path());
  }

  it('are read again only when the file is another one', async () => {
    const first = machine.credentials.saved();
    expect(machine.credentials.saved()).to.equal(first);
    await machine.holds(ORIGIN, BOARD, agent('aba_two'));
    expect(token()).to.equal('aba_two');
    const second = machine.credentials.saved();
    expect(second).to.not.equal(first);
    // Written again with the same bytes it is still another file.
    const time = statSync(path()).mtime;
    const copy = join(machine.folders.config, 'copy');
    writePrivate(copy, JSON.stringify(second));
    renameSync(copy, path());
    utimesSync(path(), time, time);
    expect(machine.credentials.saved()).to.not.equal(second);
  });

  it('know the person’s key, and none where there is none', async () => {
    expect(await machine.credentials.personKey(ORIGIN)).to.equal('abh_maya');
    expect(await machine.credentials.personKey('https://elsewhere.example.com')).to.equal(null);
    await machine.knows(ORIGIN, 'srv_1', null);
    expect(await machine.credentials.personKey(ORIGIN)).to.equal(null);
  });

  it('say that a keychain did not hand out the key', async () => {
    const key = { id: 'key_1', name: 'laptop', expires_at: null, store: 'keychain' as const };
    await machine.knows(ORIGIN, 'srv_1', null, { key });
    const refused = await machine.credentials.personKey(ORIGIN).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(Failure).and.include({ code: 'keychain_locked' });
  });

  it('are not waited for where the runtime that asks the keychain is not there any more', async () => {
    const runtime = process.execPath;
    process.execPath = join(machine.home, 'node');
    try {
      expect(await keychain.get('any')).to.deep.equal({ ok: false, locked: false });
    } finally {
      process.execPath = runtime;
    }
  });

  for (const [what, harm] of [
    ['readable by others', () => chmodSync(path(), 0o640)],
    ['a link', linkAway],
  ] as const) {
    it(`are not used from a file that is ${what}, though they were read before`, () => {
      expect(token()).to.equal('aba_one');
      harm();
      expect(token).to.throw(Failure).with.property('code', 'credentials_unsafe');
      expect(() => machine.credentials.saved())
        .to.throw()
        .and.include({ code: 'credentials_unsafe' });
    });
  }

  if (process.getuid?.() === 0)
    it('are not used from a file of another user, as under `sudo`, whose removal nobody is advised to', () => {
      chownSync(path(), 65_534, 65_534);
      expect(() => machine.credentials.saved())
        .to.throw()
        .and.include({ code: 'credentials_unsafe', hint: `ls -l '${path()}'` });
    });

  it('tell when they changed, and when nothing of them did not', async () => {
    let told = 0;
    const end = machine.credentials.onChange(() => told++);
    writeFileSync(join(machine.folders.config, 'other'), 'x');
    await machine.holds(ORIGIN, BOARD, agent('aba_two'));
    await until(() => told === 1, 'it was told');
    await machine.holds(ORIGIN, BOARD, agent('aba_three'));
    await until(() => told === 2, 'it was told again');
    end();
  });

  it('keep a seat that was given, and drop the token of one that is over', async () => {
    const seat = machine.credentials.seat(ORIGIN, 'mem_01K5A0000000000000000000M1')!;
    await machine.credentials.saveSeat(ORIGIN, 'mem_2', { ...seat, token: 'aba_other', name: 'other' });
    expect(machine.credentials.token(ORIGIN, 'mem_2')).to.equal('aba_other');
    await machine.credentials.endSeat(ORIGIN, 'mem_2');
    expect(machine.credentials.token(ORIGIN, 'mem_2')).to.equal(null);
    expect(machine.credentials.seat(ORIGIN, 'mem_2')).to.include({ name: 'other' });
    expect(statSync(path()).mode & 0o777).to.equal(0o600);
  });

  it('keep no seat with an invalid name or board, since they become words of commands', async () => {
    const seat = machine.credentials.seat(ORIGIN, 'mem_01K5A0000000000000000000M1')!;
    for (const more of [{ name: '$(touch ran)' }, { board: 'a b' }]) {
      const code = await machine.credentials.saveSeat(ORIGIN, 'mem_3', { ...seat, ...more }).catch(({ code }) => code);
      expect(code).to.equal('server_unexpected');
      expect(machine.credentials.seat(ORIGIN, 'mem_3')).to.equal(null);
    }
  });

  it('find this machine’s own server at every address it had', async () => {
    writePrivate(join(machine.folders.data, 'server.addr'), '127.0.0.1:7499\n');
    await machine.knows('http://127.0.0.1:7400', 'srv_2', null, {
      mode: 'local',
      urls: ['http://127.0.0.1:7400', 'http://127.0.0.1:7450'],
    });
    const known = machine.credentials.server('http://127.0.0.1:7450');
    expect(known).to.include({ origin: 'http://127.0.0.1:7400', address: 'http://127.0.0.1:7499', serverId: 'srv_2' });
  });
});
