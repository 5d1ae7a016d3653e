/** Something to speak of in fuzzed requests: people, agents, boards and codes that exist, and what could be mistaken for them. */
import type { AdminAction } from '../../../src/contract/types.ts';
import { newSecret } from '../../../src/server/text/ids.ts';
import type { Api } from '../api.ts';
import { fromPage } from '../browser.ts';
import { newAgent, newBoard, newCode, newDelegation, post } from '../cast.ts';
import { put } from '../files.ts';
import type { TestServer } from '../server.ts';
import { endMember, newBrowser, putOnBoard } from '../state.ts';
import type { Stage } from './requests.ts';

const linesOf = (headers: Record<string, string>): string[] =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`);

/** Made by the server's owner, of whom nothing is told: whatever a request does, the next stage can be made. */
export async function newStage(server: TestServer, name: string): Promise<Stage> {
  const { dana, nobody } = server;
  const [admin, member, other] = await Promise.all([
    server.person(`${name}a`, 'admin'),
    server.person(`${name}m`),
    server.person(`${name}o`),
  ]);
  const guest = await server.person(`${name}g`, 'guest');
  const [open, hidden] = [await newBoard(dana), await newBoard(dana, { visibility: 'private' })];
  const own = await newBoard(admin);
  for (const person of [admin, member, other, guest]) await putOnBoard(server, open.name, person);
  await putOnBoard(server, hidden.name, member);
  const seat = await newAgent(member, open.name, { name: 'helper', session: `codex:${name}`, harness: 'codex' });
  const ended = await newAgent(member, open.name);
  await endMember(server, ended.memberId);
  const first = await post(member, open.name, 'hello @helper');
  const reply = await post(seat, open.name, 'an answer', { reply_to: first.id });
  const secret = await post(dana, hidden.name, 'unseen');
  const task = await member.ok('createTask', { params: { board: open.name }, body: { title: 'a task' } });
  const file = await put(member, open.name, 'notes/plan.md', 'a plan');
  const pairing = await member.ok('createPairingRequest', {
    body: {
      board_id: open.id,
      recipient_id: other.personId ?? '',
      initiating_agent_id: seat.memberId,
      work: 'a plan',
    },
  });
  const client_token = newSecret('proof');
  await member.ok('selectPairingEndpoint', {
    body: {
      request_id: pairing.id,
      side: 'initiator',
      agent_id: seat.memberId,
      session_binding: `sha256:${'5'.repeat(64)}`,
      generation: 1,
      client_token,
    },
  });
  const delegation = await newDelegation(member);
  const browser = await newBrowser(server, member);
  const invite = await dana.ok('createInvite', { body: {} });
  const [code, guestCode] = [await newCode(dana, open.name), await newCode(dana, open.name, { guest: 'visitor' })];
  const login = await member.ok('createLoginCode');
  const key = await member.ok('createKey', { body: { name: 'spare' } });
  const machine = await nobody.ok('createMachineRequest', { body: { handle: `${name}m`, label: 'box' } });
  const asked = await requests(member, seat, { board: hidden.id, person: other.personId ?? '' });
  const adminSeat = await newAgent(admin, own.name);
  const allowed = await invites(admin, adminSeat, own.id);
  const texts = JSON.stringify([
    asked,
    allowed,
    invite,
    code,
    guestCode,
    login,
    key,
    machine,
    first,
    reply,
    secret,
    task,
    own,
    file,
    pairing,
    { client_token },
  ]);
  const bearer = (api: Api) => linesOf(api.headers({}));
  return {
    host: new URL(server.url).host,
    credentials: {
      admin: { kind: 'PK', lines: bearer(admin) },
      member: { kind: 'PK', lines: bearer(member) },
      other: { kind: 'PK', lines: bearer(other) },
      guest: { kind: 'PK', lines: bearer(guest) },
      agent: { kind: 'AG', lines: bearer(seat) },
      "admin's agent": { kind: 'AG', lines: bearer(adminSeat) },
      'ended agent': { kind: null, lines: bearer(ended) },
      delegation: { kind: 'DG', lines: bearer(delegation) },
      endpoint: { kind: 'PC', lines: [`authorization: Bearer ${client_token}`] },
      'browser session': { kind: 'BR', lines: linesOf(browser.headers({})) },
      'cookie alone': { kind: null, lines: [`cookie: ${browser.cookie}`] },
      'session as bearer': { kind: 'BR', lines: bearer(browser.bearer) },
      'server invite': { kind: 'IN', lines: [`authorization: Bearer ${/abi_[\w-]+/.exec(texts)?.[0]}`] },
      'page without a session': { kind: 'page', lines: linesOf(fromPage(server.url)) },
      none: { kind: null, lines: [] },
    },
    known: {
      texts: [
        ...[open, hidden, own].flatMap(({ id, name: called }) => [id, called]),
        ...[`${name}a`, `${name}m`, `${name}o`, `${name}g`, seat.name, seat.memberId, ended.memberId, 'me', 'all'],
        ...[
          'member',
          'eyes',
          'codex',
          `codex:${name}`,
          'general',
          'laptop',
          '@all',
          `@${seat.name}`,
          browser.sessionId,
        ],
        ...found(texts, /\b(?!ab)[a-z]{2,3}_[\w-]{20,}|\b[A-Z]+-\d+\b/g),
      ],
      secrets: found(texts, /\bab[a-z]_[\w-]{20,}|"[0-9A-Z]{3}-[0-9A-Z]{3}(?=")/g).map((secret) =>
        secret.replace('"', ''),
      ),
    },
  };
}

const found = (text: string, pattern: RegExp): string[] => [...new Set(text.match(pattern) ?? [])];

/** What an agent asked for: one request that waits, one that was declined. */
async function requests(person: Api, agent: Api, { board, person: person_id }: { board: string; person: string }) {
  const ask = async (body: AdminAction) => (await agent.ok('requestAdminAction', { body })).approval;
  const declined = await ask({ kind: 'add_people', board_id: board, person_id });
  await person.ok('declineApproval', { params: { approval: declined.id } });
  return [declined, await ask({ kind: 'add_people', board_id: board, person_id })];
}

/** Invites that an agent asked for: one to be allowed, one to be collected. */
async function invites(person: Api, agent: Api, board: string) {
  const body = { kind: 'invite_people' as const, invite: { boards: [board] } };
  const first = await agent.ok('requestAdminAction', { body });
  const { approval } = await person.ok('allowApproval', { params: { approval: first.approval.id }, body: {} });
  return [approval, (await agent.ok('requestAdminAction', { body })).approval];
}
