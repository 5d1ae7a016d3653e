/**
 * Whether the time of an answer tells why something was not found: requests in turn for what never was and for what is hidden,
 * used up, expired or revoked, whose answers are the same. The first of each is asked for twice, which shows the noise.
 */
import { randomBytes } from 'node:crypto';
import { secretPrefixes } from '../../src/contract/ids.ts';
import type { OperationName } from '../../src/contract/operations.ts';
import { Api, type Call } from '../support/api.ts';
import { fromPage } from '../support/browser.ts';
import { newBoard, newCode } from '../support/cast.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { changeBoard, revokeKey } from '../support/state.ts';
import { type Figure, median, round } from './measure.ts';

const TRIES = 1_000;
const WARM_UP = 100;
/** A median this many times another one, of a thousand each, could be told from it by patience. */
const TARGET = 1.1;

interface Question {
  name: string;
  ask: OperationName;
  by: Api;
  /** What never was; then what was, by what became of it. */
  never(): Call;
  others: Record<string, Call>;
}

export async function oracle(): Promise<Figure[]> {
  const server = await startTestServer('sqlite');
  try {
    const figures: Figure[] = [];
    for (const question of await questionsOf(server)) figures.push(...(await answersTo(server, question)));
    return figures;
  } finally {
    await server.stop();
  }
}

const unknown = (prefix: string): string => prefix + randomBytes(32).toString('base64url');

async function questionsOf(server: TestServer): Promise<Question[]> {
  const { dana, nobody } = server;
  const eve = await server.person('eve');
  const [hidden, gone] = [await newBoard(dana, { visibility: 'private' }), await newBoard(dana)];
  await changeBoard(server, gone.name, { lifecycle: 'deleted' });
  const spare = new Api(server.url, (await eve.ok('createKey', { body: { name: 'spare' } })).token);
  await revokeKey(server, spare);
  const login = async () => (await eve.ok('createLoginCode')).code;
  const [usedLogin, expiredLogin] = [await login(), await login()];
  await nobody.ok('createBrowserSession', { body: { code: usedLogin }, headers: fromPage(server.url) });
  const invite = async () =>
    (await dana.ok('createInvite', { body: { ttl_seconds: 3_600 } })).invite.split('#')[1] ?? '';
  const [usedInvite, expiredInvite] = [await invite(), await invite()];
  await nobody.ok('connectPerson', { body: { invite: usedInvite, handle: 'new', key_name: 'box' } });
  const open = await newBoard(eve);
  const [revokedCode, expiredCode] = [
    await newCode(eve, open.name),
    await newCode(eve, open.name, { ttl_seconds: 60 }),
  ];
  await eve.ok('revokeJoinCode', { params: { board: open.name, code_id: revokedCode.id } });
  const machine = await nobody.ok('createMachineRequest', { body: { handle: 'eve', label: 'box' } });
  await eve.ok('approveMachineRequest', { body: { code: machine.code } });
  await nobody.ok('collectMachineKey', { body: { secret: machine.secret } });
  server.clock.advance(3_601_000);

  const board = (name: string): Call => ({ params: { board: name } });
  const token = (bearer: string | undefined): Call => ({ headers: { authorization: `Bearer ${bearer}` } });
  const code = (text: string): Call => ({ body: { code: text }, headers: fromPage(server.url) });
  const redeemed = (secret: string): Call => ({ body: { invite: secret, handle: 'other', key_name: 'box' } });
  const secret = (text: string): Call => ({ body: { secret: text } });
  return [
    {
      name: 'a board',
      ask: 'getBoard',
      by: eve,
      never: () => board(`room-${randomBytes(1).toString('hex')}`),
      others: { hidden: board(hidden.name), deleted: board(gone.name) },
    },
    {
      name: 'a key',
      ask: 'getMe',
      by: nobody,
      never: () => token(unknown(secretPrefixes.key)),
      others: { revoked: token(spare.token) },
    },
    {
      name: 'a login code',
      ask: 'previewLoginCode',
      by: nobody,
      never: () => code(unknown(secretPrefixes.login)),
      others: { used: code(usedLogin), expired: code(expiredLogin) },
    },
    {
      name: 'an invite',
      ask: 'connectPerson',
      by: nobody,
      never: () => redeemed(unknown(secretPrefixes.invite)),
      others: { used: redeemed(usedInvite), expired: redeemed(expiredInvite) },
    },
    {
      name: 'a join code',
      ask: 'joinBoard',
      by: eve,
      never: () => ({ body: { code: '000-000' } }),
      others: { revoked: { body: { code: revokedCode.code } }, expired: { body: { code: expiredCode.code } } },
    },
    {
      name: 'a machine’s secret',
      ask: 'collectMachineKey',
      by: nobody,
      never: () => secret(unknown(secretPrefixes.collect)),
      others: { collected: secret(machine.secret) },
    },
  ];
}

async function answersTo(server: TestServer, { name, ask, by, never, others }: Question): Promise<Figure[]> {
  const calls: Record<string, () => Call> = { never, 'never, again': never };
  for (const [what, call] of Object.entries(others)) calls[what] = () => call;
  const times: Record<string, number[]> = Object.fromEntries(Object.keys(calls).map((what) => [what, []]));
  for (let turn = 0; turn < TRIES + WARM_UP; turn++) {
    // No limit of requests a minute is what is measured.
    if (turn % 50 === 0) server.clock.nextMinute();
    for (const [what, call] of Object.entries(calls)) {
      const made = call();
      const from = performance.now();
      const { status } = await by.call(ask, made);
      if (turn >= WARM_UP) times[what]?.push(performance.now() - from);
      if (status !== 404 && status !== 401) throw new Error(`${name}, ${what}: ${status}`);
    }
  }
  const base = median(times['never'] ?? []);
  return Object.keys(others)
    .concat('never, again')
    .map((what) => {
      const ratio = median(times[what] ?? []) / base;
      const apart = Math.max(ratio, 1 / ratio);
      return {
        name: `oracle: ${name}, ${what} to never made`,
        value: round(ratio),
        ratio: apart,
        target: { op: '<=' as const, value: TARGET },
      };
    });
}
