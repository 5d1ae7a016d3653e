/**
 * Two people, two machines and two agents in sessions, each with the delivery daemon of its machine: from the request of one
 * to the round trips of both. Everything is the built program; an agent sees only what its hooks print.
 */
import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { Home, until } from './support/home.ts';
import { PlayedSession } from './support/played.ts';

describe('two machines', () => {
  let anas: Home;
  let mayas: Home;
  let ours: PlayedSession;
  let theirs: PlayedSession;
  let link: string;
  let pairing: string;
  /** Each proof that a daemon ever held. */
  const proofs = new Set<string>();
  before(async () => {
    anas = new Home();
    mayas = new Home();
    await anas.serve();
    ours = new PlayedSession(anas, 'ana-one');
    theirs = new PlayedSession(mayas, 'maya-one');
    await anas.json(['board', 'create', 'launch', '--private']);
    await ours.start();
    await ours.json(['join', '--board', 'launch', '--name', 'helper']);
  });
  after(async () => {
    for (const home of [mayas, anas]) {
      await home.run(['daemon', 'stop']);
      await home.close();
    }
  });

  const heldProofs = (home: Home): string[] => {
    const file = home.path('state', 'pairing.json');
    const held = existsSync(file) ? (readFileSync(file, 'utf8').match(/abp_[\w-]{43}/g) ?? []) : [];
    for (const proof of held) proofs.add(proof);
    return held;
  };
  const shown = async (home: Home) => (await home.json(['pairing', 'show', pairing])).request;
  const toldCommand = (text: string, verb: string): string[] => {
    const command = new RegExp(`service ${verb} [^\\n]*`).exec(text)?.[0] ?? '';
    return (command.match(/'[^']*'|\S+/g) ?? []).slice(1).map((word) => word.replaceAll("'", ''));
  };

  it('begin with a session that asks, is woken by its person’s word, and collects', async () => {
    const asked = ['invite', 'create', '--board', 'launch', '--handle', 'maya', '--pairing', 'Review the API'];
    const { state, approval } = await ours.json(asked);
    expect(state).to.equal('pending');
    const text = await ours.woken(async () => {
      const allowed = await anas.json(['approval', 'allow', approval.id, '--yes']);
      link = allowed.invite.invite;
    });
    expect(text).to.include(`service: your request ${approval.id} was allowed.`).and.not.include('abi_');
    const got = await ours.json(toldCommand(text, 'approvals? show'));
    expect([got.collected, got.invite.invite]).to.deep.equal([true, link]);
    pairing = got.pairing_request_id;
  });

  it('go on with the daemon, which selects the session that asked before anybody came', async () => {
    await until('it is selected', async () => (await shown(anas)).initiator !== undefined);
    expect(await shown(anas)).to.include({ state: 'awaiting_account', awaiting: 'recipient', generation: 1 });
    expect(heldProofs(anas)).to.have.length(1);
  });

  it('bring the colleague’s session onto the board by accepting', async () => {
    const joined = await mayas.shell(`printf %s '${link}' | service connect - --yes --name workbench --json`);
    expect(joined.code, joined.stderr).to.equal(0);
    expect(JSON.parse(joined.stdout).pairing_request_id).to.equal(pairing);
    await theirs.start();
    // It has no seat, and sees what is proposed to its person all the same.
    const { requests } = await theirs.json(['pairing', 'list']);
    expect(requests.map(({ id }: { id: string }) => id)).to.deep.equal([pairing]);
    expect((await theirs.json(['pairing', 'show', pairing])).request.work).to.equal('Review the API');
    const inState = async (state: string) => (await theirs.json(['pairing', 'list', '--state', state])).requests.length;
    expect([await inState('all'), await inState('open'), await inState('closed')]).to.deep.equal([1, 1, 0]);
    const wrong = await theirs.run(['pairing', 'accept', pairing]);
    expect(JSON.parse(wrong.stdout).error.code).to.equal('invalid_request');
    const { request } = await theirs.json(['pairing', 'accept', '--here']);
    expect(request).to.include({ id: pairing, state: 'verifying', accepted: true, awaiting: 'both' });
    expect(heldProofs(mayas)).to.have.length(1);
  });

  it('are verified from both sides by what both sessions were handed and answered', async () => {
    /** Takes turns until the session has answered a ping and been handed an answer. */
    const takesPart = async (session: PlayedSession): Promise<void> => {
      let [answered, heard] = [false, false];
      for (let turn = 0; turn < 6 && !(answered && heard); turn++) {
        const text = await session.woken();
        expect(text).not.to.match(/ab[abdhip]_[\w-]{20,}/);
        for (const [, seq, body] of text.matchAll(
          /<service-message [^>]*seq="(\d+)"[^>]*>([\s\S]*?)<\/service-message>/g,
        )) {
          const line = /exactly this line: (service-pairing\/1 .*)/.exec(body ?? '')?.[1];
          if (line === undefined) heard ||= /^service-pairing\/1 .* kind=reply /m.test(body ?? '');
          else {
            await session.json(['say', line, '--reply', seq ?? '']);
            answered = true;
          }
        }
      }
      expect([answered, heard]).to.deep.equal([true, true]);
    };
    await Promise.all([takesPart(ours), takesPart(theirs)]);
    await Promise.all([ours, theirs].map((session) => session.hook('tool', 'PostToolBatch', { tool_name: 'Bash' })));
    await until('it is ready', async () => (await shown(anas)).state === 'ready');
    expect(await shown(mayas)).to.include({ state: 'ready', generation: 1, accepted: true });
    await until('no proof is left', () => [anas, mayas].every((home) => heldProofs(home).length === 0));
  });

  it('show what is bound to the sessions that are, and refuse the word of others', async () => {
    expect((await ours.json(['pairing', 'select', pairing, '--here'])).request.state).to.equal('ready');
    const another = new PlayedSession(mayas, 'maya-two');
    await another.start();
    const refused = await another.run(['pairing', 'accept', pairing, '--here']);
    expect([refused.code, JSON.parse(refused.stdout).error.code]).to.deep.equal([7, 'pairing_changed']);
  });

  it('have told no proof to anybody', () => {
    expect(proofs.size).to.be.greaterThan(1);
    for (const home of [anas, mayas]) {
      const log = readFileSync(home.path('state', 'daemon.log'), 'utf8');
      for (const secret of [link.split('#')[1] ?? '', ...proofs]) expect(log.includes(secret)).to.equal(false);
    }
  });
});
