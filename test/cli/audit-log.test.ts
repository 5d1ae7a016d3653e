/** The events that `audit log` shows: the newest or what follows a number, of anybody or of one member. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { homeWithBoard } from './support/shared.ts';

describe('audit log', () => {
  const home = homeWithBoard();
  const log = (...flags: string[]) => home().json(['audit', 'log', ...flags]);
  // biome-ignore lint/suspicious/noExplicitAny: printed records
  const seqs = (record: any) => record.events.map((event: { seq: number }) => event.seq);

  before(async () => {
    await home().json(['agent', 'create', 'codex']);
    for (const body of ['one', 'two', 'three']) await home().json(['say', body, '--as', 'codex']);
    await home().shell(`for i in $(seq 210); do echo '{"body":"more"}'; done | service say --ndjson-in -q`);
  });

  it('shows the newest of one member however much others did since', async () => {
    expect(seqs(await log('--actor', 'codex', '--limit', '2'))).to.deep.equal([5, 6]);
    expect(seqs(await log('--actor', '@codex', '--type', 'message.posted'))).to.deep.equal([4, 5, 6]);
    expect(await log('--actor', 'nobody')).to.deep.include({ events: [], next_after: null, head_seq: 216 });
  });

  it('gives all of it one by one, unless a number of them is asked for', async () => {
    const lines = async (...flags: string[]) => {
      const { stdout } = await home().run(['audit', 'log', '--ndjson', ...flags]);
      return stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).seq as number);
    };
    const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);
    expect(await lines()).to.deep.equal(numbers(1, 216));
    expect(await lines('--after', '5')).to.deep.equal(numbers(6, 216));
    expect(await lines('--actor', '@codex')).to.deep.equal([4, 5, 6]);
    expect(await lines('--type', 'message.posted', '--after', '6')).to.deep.equal(numbers(7, 216));
    expect(await lines('--limit', '3')).to.deep.equal([214, 215, 216]);
    expect(await lines('--before', '4')).to.deep.equal([1, 2, 3]);
  });

  it('shows only the end of it, and how to go back, with the same flags', async () => {
    const { stdout } = await home().run(['audit', 'log']);
    expect(stdout).to.match(/\nEarlier: service audit log --before 167\n$/);
    const page = await log('--before', '167', '--limit', '2');
    expect([seqs(page), page.prev_before, page.next_after]).to.deep.equal([[165, 166], 165, 166]);
    const typed = await home().run('audit log --before 167 --limit 2 --type message.posted'.split(' '));
    expect(typed.stdout).to.match(
      /\nEarlier: (service audit log) --before 165( --type message.posted --limit 2)\nLater: \1 --after 166\2\n$/,
    );
    const theirs = await log('--actor', 'codex', '--before', '6', '--limit', '1');
    expect([seqs(theirs), theirs.prev_before]).to.deep.equal([[5], 5]);
    const first = await log('--actor', 'codex', '--before', '5', '--limit', '1');
    expect([seqs(first), first.prev_before]).to.deep.equal([[4], null]);
    expect(await log('--before', '4')).to.include({ prev_before: null, next_after: 3 });
    expect((await home().run(['audit', 'log', '--before', '4', '--after', '1'])).code).to.equal(2);
  });

  it('goes on after the last one shown, with the same flags', async () => {
    const page = await log('--actor', 'codex', '--after', '3', '--limit', '1');
    expect([seqs(page), page.next_after]).to.deep.equal([[4], 4]);
    const { stdout } = await home().run('audit log --actor codex --after 3 --limit 1'.split(' '));
    expect(stdout).to.include('Later: service audit log --after 4 --actor codex --limit 1');
    const last = await log('--actor', 'codex', '--after', '4', '--limit', '2');
    expect([seqs(last), last.next_after]).to.deep.equal([[5, 6], null]);
    const typed = await home().run('audit log --type message.posted,board.created --after 0 --limit 1'.split(' '));
    expect(typed.stdout).to.include('Later: service audit log --after 1 --type message.posted,board.created --limit 1');
  });

  it('says of an answer that is no page of events what it is, as an export does', async () => {
    let page: object = {};
    const other = createServer((_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page)),
    ).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const env = {
      SERVICE_TOKEN: `abh_${'A'.repeat(43)}`,
      SERVICE_SERVER: `http://127.0.0.1:${(other.address() as AddressInfo).port}`,
    };
    for (page of [{}, { events: [null], head_seq: 1, next_after: null }])
      for (const args of [
        'log --ndjson',
        'log --ndjson --actor codex',
        'export - --json',
        'export record.ndjson --json',
      ]) {
        const { code, stdout } = await home().run(`audit ${args} -b demo`.split(' '), { env });
        expect([code, JSON.parse(stdout).error?.code], args).to.deep.equal([1, 'server_unexpected']);
      }
    other.close();
  });

  it('shows what a person did under each of their handles, whichever is named', async () => {
    const { name } = (await home().json(['whoami'])).actor;
    const rename = (from: string, to: string) => home().json(['people', 'rename', from, to, '--yes']);
    await home().json(['board', 'create', 'renamed']);
    await home().json(['agent', 'create', 'other', '--board', 'renamed']);
    await home().json(['say', 'of another', '--as', 'other', '--board', 'renamed']);
    await rename(name, 'x9');
    await home().json(['say', 'after', '--board', 'renamed']);
    await rename('x9', name);
    const theirs = [1, 2, 3, 5, 6, 7];
    for (const handle of [name, 'x9']) {
      const all = await log('--board', 'renamed', '--actor', handle, '--after', '0');
      expect(seqs(all), handle).to.deep.equal(theirs);
      const { stdout } = await home().run(`audit log --board renamed --actor ${handle} --ndjson`.split(' '));
      expect(stdout.trimEnd().split('\n'), handle).to.have.length(theirs.length);
    }
  });

  it('tells who exports it of how many events they may not read the data', async () => {
    await home().json(['agent', 'create', 'claude']);
    await home().json(['board', 'policy', '--set', 'visibility=addressed']);
    for (const body of ['for', 'claude']) await home().json(['say', body, '--to', '@claude']);
    const printed = (...more: string[]) => home().run(['audit', 'export', '-', ...more]);
    const { stdout, stderr } = await printed('--as', 'codex');
    expect(stdout.split('"data_withheld":true')).to.have.length(3);
    expect(stderr).to.equal(
      'Warning: The data of 2 events is withheld: you may not read it.\nHint: A person on the board can export all of it\n',
    );
    expect((await printed()).stderr).to.equal('');
  });
});
