/** credentials.json: what ends, what is kept, and writers at the same time. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { allSeats, chooseActor } from '../../src/local/actors.ts';
import { folders } from '../../src/local/folders.ts';
import {
  credentialsPath,
  endSeat,
  endSeatsOfKey,
  noteHolder,
  readCredentials,
  seatsAt,
  updateCredentials,
} from '../../src/local/keys/credentials.ts';

const seat = (name: string, board: string) => ({
  token: `aba_${name}`,
  board_id: `brd_${board}`,
  board,
  name,
  role: 'member',
  harness: null,
  session: null,
  created_at: '2026-03-02T09:00:00.000Z',
});

const seatAt = (memberId: string, origin = 'https://a.example') => ({ origin, memberId });

describe('saved credentials', () => {
  let home: string;
  const place = () => folders({ SERVICE_HOME: home });

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'board-credentials-'));
    await updateCredentials(place(), (saved) => {
      const common = { server_id: 'srv_1', mode: 'team' as const, person: null, key: null };
      const seats = { mem_1: seat('codex', 'one'), mem_2: seat('codex', 'two'), mem_3: seat('claude', 'one') };
      saved.servers['https://a.example'] = { ...common, name: 'a', seats };
      Object.assign(saved, { added_by_a_newer_version: true });
    });
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const choose = (as: string | undefined, board?: string, env: Record<string, string> = {}) =>
    chooseActor({ as, board, serverOrigin: undefined }, () => readCredentials(place()), env);
  const codeOf = (as: string, board?: string, env?: Record<string, string>) => {
    try {
      choose(as, board, env);
    } catch (error) {
      return (error as { code: string }).code;
    }
    return 'chosen';
  };

  it('give way to a token of the environment, which may end in a line feed as a file of it does', () => {
    const token = `aba_${'A'.repeat(43)}`;
    const path = join(home, 'token');
    writeFileSync(path, `${token}\n`);
    for (const [name, value] of [
      ['SERVICE_TOKEN', token],
      ['SERVICE_TOKEN', `${token}\n`],
      ['SERVICE_TOKEN_FILE', path],
    ] as const)
      expect(choose(undefined, undefined, { [name]: value })).to.deep.equal({ kind: 'token', token, agent: true });
  });

  it('find a seat by name, by name and board, or by id, and never guess', () => {
    expect(choose('claude')).to.have.nested.property('seat.memberId', 'mem_3');
    expect(choose('codex@two')).to.have.nested.property('seat.memberId', 'mem_2');
    expect(choose('codex', 'one')).to.have.nested.property('seat.memberId', 'mem_1');
    expect(choose('mem_2')).to.have.nested.property('seat.memberId', 'mem_2');
    expect(codeOf('codex')).to.equal('agent_ambiguous');
    expect(codeOf('codex@three')).to.equal('agent_seat_elsewhere');
    expect(codeOf('nobody')).to.equal('agent_seat_elsewhere');
  });

  it('find a seat by any address of its server, and by that of its row first', async () => {
    const atB = (as: string) =>
      chooseActor({ as, board: undefined, serverOrigin: 'https://b.example' }, () => readCredentials(place()), {});
    await updateCredentials(place(), ({ servers }) => {
      const seats = { mem_2: seat('codex', 'two') };
      servers['https://b.example'] = { ...servers['https://a.example']!, name: 'b', seats };
    });
    expect(atB('claude')).to.have.nested.property('seat.origin', 'https://a.example');
    expect(atB('codex@two')).to.have.nested.property('seat.origin', 'https://b.example');
    expect(atB('codex@one')).to.have.nested.property('seat.memberId', 'mem_1');
    await updateCredentials(place(), ({ servers }) => {
      servers['https://b.example']!.server_id = 'srv_2';
    });
    expect(() => atB('claude')).to.throw('claude has its seat on https://a.example; nothing was sent.');
  });

  it('let SERVICE_BOARD decide between seats of one name, where no flag does', () => {
    const two = { SERVICE_BOARD: 'two' };
    expect(choose('codex', undefined, two)).to.have.nested.property('seat.memberId', 'mem_2');
    expect(choose(undefined, undefined, { ...two, SERVICE_AGENT: 'codex' })).to.have.nested.property(
      'seat.memberId',
      'mem_2',
    );
    expect(choose('codex', 'one', two)).to.have.nested.property('seat.memberId', 'mem_1');
    expect(choose('codex@one', undefined, two)).to.have.nested.property('seat.memberId', 'mem_1');
    expect(choose('claude', undefined, two)).to.have.nested.property('seat.memberId', 'mem_3');
    expect(codeOf('codex', undefined, { SERVICE_BOARD: 'three' })).to.equal('agent_ambiguous');
    expect(codeOf('codex', 'three', two)).to.equal('agent_seat_elsewhere');
  });

  it('of SERVICE_AGENT act beside the key of a person in SERVICE_TOKEN, and not beside the token of a seat', () => {
    const [person, agent] = [`abh_${'a'.repeat(43)}`, `aba_${'a'.repeat(43)}`];
    const as = (SERVICE_TOKEN: string, more = {}) => choose(undefined, undefined, { SERVICE_TOKEN, ...more });
    const claude = { SERVICE_AGENT: 'claude' };
    expect(as(person, claude)).to.have.nested.property('seat.memberId', 'mem_3');
    expect(as(agent, claude)).to.deep.equal({ kind: 'token', token: agent, agent: true });
    expect(as(person)).to.deep.equal({ kind: 'token', token: person, agent: false });
    expect(choose('codex@two', undefined, { SERVICE_TOKEN: agent, ...claude })).to.have.nested.property(
      'seat.memberId',
      'mem_2',
    );
  });

  it('drop the token of a seat that ended, explain it for a week, then forget it', async () => {
    const days = (count: number) => Date.now() - count * 86_400_000;
    await endSeat(place(), seatAt('mem_3'), days(6));
    expect(readFileSync(credentialsPath(place()), 'utf8')).to.not.include('aba_claude');
    expect(codeOf('claude')).to.equal('agent_removed');
    await endSeat(place(), seatAt('mem_3'), days(8));
    expect(codeOf('claude')).to.equal('agent_seat_elsewhere');
    const keyEnded = (count: number) =>
      updateCredentials(place(), ({ servers }) => {
        const { seats } = servers['https://a.example']!;
        seats['mem_3'] = { ...seat('claude', 'one'), key: 'key_1' };
        endSeatsOfKey(servers['https://a.example']!, 'key_1', days(count));
      });
    await keyEnded(8);
    expect(codeOf('claude')).to.equal('agent_seat_elsewhere');
    await keyEnded(6);
    expect(codeOf('claude')).to.equal('unauthorized');
    await endSeat(place(), seatAt('mem_3'));
    expect(codeOf('claude')).to.equal('agent_removed');
    expect(readCredentials(place()).servers['https://a.example']!.seats['mem_3']).to.not.have.property('key_ended_at');
  });

  it('let a server end seats of its own only, at any of its addresses, whatever ids it gives its agents', async () => {
    await updateCredentials(place(), ({ servers }) => {
      const known = servers['https://a.example']!;
      servers['https://b.example'] = { ...known, server_id: 'srv_2', seats: { mem_1: seat('fixer', 'one') } };
      servers['https://c.example'] = { ...known, seats: {} };
    });
    const left = () => allSeats(readCredentials(place())).map(({ origin, memberId }) => `${origin} ${memberId}`);
    await endSeat(place(), seatAt('mem_2', 'https://b.example'));
    await endSeat(place(), seatAt('mem_1', 'https://b.example'));
    expect(left()).to.deep.equal(['mem_1', 'mem_2', 'mem_3'].map((id) => `https://a.example ${id}`));
    await endSeat(place(), seatAt('mem_1', 'https://c.example'));
    expect(left()).to.deep.equal(['mem_2', 'mem_3'].map((id) => `https://a.example ${id}`));
  });

  it('note who holds a seat for the seat of its own server only, and once for a board', async () => {
    await updateCredentials(place(), ({ servers }) => {
      const known = servers['https://a.example']!;
      const seats = { mem_1: seat('fixer', 'one'), mem_6: { ...seat('omp', 'one'), session: 'claude:s1' } };
      servers['https://b.example'] = { ...known, server_id: 'srv_2', seats };
    });
    const held = () =>
      allSeats(readCredentials(place())).flatMap(({ origin, memberId, saved }) =>
        saved.session ? [`${origin} ${memberId} ${saved.session}`] : [],
      );
    for (const id of ['mem_1', 'mem_2', 'mem_3'])
      await noteHolder(
        place(),
        allSeats(readCredentials(place())).find(({ memberId }) => memberId === id)!,
        'claude:s1',
      );
    expect(held()).to.deep.equal([
      'https://a.example mem_2 claude:s1',
      'https://a.example mem_3 claude:s1',
      'https://b.example mem_6 claude:s1',
    ]);
  });

  it('keep a token without the key that it was made with until the key that is saved here ends', async () => {
    const leftAfter = async (ended: string) => {
      await updateCredentials(place(), ({ servers }) => {
        const entry = servers['https://a.example']!;
        entry.key = { id: 'key_1', name: 'laptop', expires_at: null, store: 'file' };
        entry.seats['mem_2']!.key = 'key_2';
        endSeatsOfKey(entry, ended);
      });
      return allSeats(readCredentials(place())).map(({ memberId }) => memberId);
    };
    expect(await leftAfter('key_3')).to.deep.equal(['mem_1', 'mem_2', 'mem_3']);
    expect(await leftAfter('key_2')).to.deep.equal(['mem_1', 'mem_3']);
    expect(await leftAfter('key_1')).to.deep.equal([]);
  });

  it('find the seats again that an earlier version put aside by their server alone', () => {
    const known = readCredentials(place()).servers['https://a.example']!;
    const [theirs, others] = [{ mem_4: seat('codex', 'four') }, { mem_5: seat('codex', 'five') }];
    const aside = { ...known, person: { id: 'hum_1', handle: 'maya' }, former: { srv_2: theirs, srv_3: others } };
    expect(seatsAt(aside, 'srv_2', 'hum_1')).to.deep.equal({
      seats: theirs,
      former: { srv_3: others, 'srv_1 hum_1': known.seats },
    });
    expect(seatsAt({ ...aside, server_id: 'srv_2' }, 'srv_2', 'hum_1')).to.deep.equal({
      seats: { ...theirs, ...known.seats },
      former: { srv_3: others },
    });
  });

  it('keep every change of writers at the same time, and keys they do not know', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `agent-${i}`);
    await Promise.all(
      names.map((name) =>
        updateCredentials(place(), (saved) => {
          const server = saved.servers['https://a.example'];
          if (server) server.seats[`mem_${name}`] = seat(name, 'one');
        }),
      ),
    );
    const saved = readCredentials(place());
    expect(Object.keys(saved.servers['https://a.example']?.seats ?? {})).to.have.length(23);
    expect(saved).to.have.property('added_by_a_newer_version', true);
  });

  it('can be changed after a crash before which the clock was ahead', async () => {
    const lock = join(place().config, 'credentials.lock');
    writeFileSync(lock, String(spawnSync('true').pid));
    const ahead = Date.now() / 1000 + 3_600;
    utimesSync(lock, ahead, ahead);
    await endSeat(place(), seatAt('mem_1'));
    expect(existsSync(lock)).to.equal(false);
  });
});
