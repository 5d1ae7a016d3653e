/** The browsers a person is signed in with, seen and ended from a terminal. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { homeWithBoard } from './support/shared.ts';

describe('service key sessions', () => {
  const home = homeWithBoard();
  let url: string;
  before(async () => {
    ({ url } = (await home().json(['whoami'])).server);
  });

  /** What a page does: signs in with the person's key; answers the session and a request in it. */
  const signIn = async () => {
    const key = readFileSync(home().path('data', 'local-key'), 'utf8').trim();
    const headers = { origin: url, 'content-type': 'application/json' };
    const answer = await fetch(`${url}/v1/browser-sessions`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ key }),
    });
    const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const session = (await answer.json()) as { id: string; key: { id: string; name: string } };
    return { ...session, works: async () => (await fetch(`${url}/v1/me`, { headers: { cookie } })).status === 200 };
  };

  it('lists them newest first, of one key by its name or id, and ends one', async () => {
    const [one, two] = [await signIn(), await signIn()];
    const { sessions, person } = await home().json(['key', 'sessions']);
    expect(sessions.map(({ id }: { id: string }) => id)).to.have.members([one.id, two.id]);
    expect(person.server_role).to.equal('admin');
    for (const key of [one.key.name, one.key.id])
      expect((await home().json(['key', 'sessions', '--key', key])).sessions).to.have.length(2);
    expect((await home().json(['key', 'sessions', '--key', 'other'])).sessions).to.deep.equal([]);
    const { stdout } = await home().run(['key', 'sessions']);
    const lines = stdout.split('\n');
    expect(lines[0]).to.equal(`${url} · 2`);
    expect(lines[1]).to.match(/^ID {2,}KEY {2,}STARTED {2,}ENDS$/);
    expect(lines[2]).to.match(/^ses_\w{26} {2}\S+ +just now with the key itself {2}in (29|30)d$/);
    expect(lines[4]).to.equal('End one: service key end-session ID');
    expect((await home().run(['key', 'sessions', '--ndjson'])).stdout.trim().split('\n')).to.have.length(2);

    const ended = await home().run(['key', 'end-session', one.id, '--idempotency-key', 'k']);
    expect(ended.stdout).to.equal(`Ended ${one.id}, started just now from key ${one.key.name}.\n`);
    expect([await one.works(), await two.works()]).to.deep.equal([false, true]);
    const again = await home().json(['key', 'end-session', one.id, '--idempotency-key', 'k']);
    expect(again).to.include({ replayed: true });
    expect(again.session.id).to.equal(one.id);
  });

  it('says what is not there, and leaves it to the person', async () => {
    const gone = await home().run(['key', 'end-session', 'ses_01K5A0000000000000000000Z9', '--json']);
    expect([gone.code, JSON.parse(gone.stdout).error.code]).to.deep.equal([6, 'browser_session_not_found']);
    const odd = await home().run(['key', 'end-session', 'nonsense', '--json']);
    expect([odd.code, JSON.parse(odd.stdout).error.code]).to.deep.equal([1, 'invalid_request']);
    const foreign = await home().run(['key', 'sessions', '--key', 'key_01K5A0000000000000000000Z9', '--json']);
    expect([foreign.code, JSON.parse(foreign.stdout).error.code]).to.deep.equal([6, 'key_not_found']);
    await home().run(['agent', 'create', 'codex', '--board', 'demo']);
    const agent = await home().run(['key', 'sessions', '--as', 'codex', '--json']);
    expect([agent.code, JSON.parse(agent.stdout).error.code]).to.deep.equal([5, 'human_command_in_session']);
  });
});
