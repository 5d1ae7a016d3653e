/** What people type in their first half hour, and what the program says to it. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Credentials, SavedSeat } from '../../src/local/keys/credentials.ts';
import { startTestServer } from '../support/server.ts';
import { Home } from './support/home.ts';
import { homeWithBoard } from './support/shared.ts';

const inSession = { env: { SERVICE_SESSION: 'claude-code:one' } };

describe('somebody new', () => {
  const home = homeWithBoard();
  const refused = async (args: string[], options = {}) => {
    const { code, stderr } = await home().run(args, options);
    const [error = '', hint = ''] = stderr.trimEnd().split('\n');
    return { code, error, hint };
  };

  for (const [args, hint] of [
    [['read', '--has', 'asks'], '--has ask'],
    [['read', '--color', 'alwys'], '--color always'],
    [['completion', 'zhs'], 'zsh'],
    [['say', 'hi', '--to', 'codex'], '--to @codex'],
    [['say', 'hi', '--to', 'all,codex', '--to', 'maya'], '--to @codex --to @maya'],
  ] as const)
    it(`is told what "${args.join(' ')}" probably means`, async () => {
      expect((await refused([...args])).hint).to.equal(`Hint: Did you mean: ${hint}`);
    });

  it('is told the name that a board can have', async () => {
    expect(await refused(['board', 'create', 'My new board'])).to.deep.equal({
      code: 2,
      error:
        'Error (invalid_request): The name of a board has 2 to 40 small letters, digits and hyphens, with no hyphen at either end, but got "My new board".',
      hint: 'Hint: service board create my-new-board --title "My new board"',
    });
    expect((await refused(['board', 'create', 'Foo'])).hint).to.equal('Hint: service board create foo');
    expect((await refused(['board', 'create', '!'])).hint).to.equal('Hint: service board create --help');
  });

  it('is told in words why a file cannot be read', async () => {
    for (const [path, why] of [
      ['none.md', 'there is no such file or folder'],
      ['.', 'it is a folder'],
    ] as const)
      expect((await refused(['say', '--body-file', path])).error).to.include(
        `The file ${path} cannot be read: ${why}.`,
      );
  });

  it('is told how to name a file whose own name is no path on a board', async () => {
    await home().shell('echo 1 > "my notes.md"');
    const error =
      'Error (invalid_request): "my notes.md" is no path on a board: it has letters, digits, dots, hyphens and underscores.';
    for (const [args, named] of [
      [['file', 'put', 'my notes.md'], '--name notes/api.md'],
      [['say', 'hi', '--attach', 'my notes.md'], "--attach 'my notes.md'=notes/api.md"],
    ] as const) {
      const hint = `Hint: Say what it is called there, such as ${named}`;
      expect(await refused([...args])).to.deep.equal({ code: 2, error, hint });
    }
  });

  it('is sent to its person where the seat of its session has ended, because the server lets that session join no more', async () => {
    await home().json(['agent', 'create', 'gone', '--board', 'demo']);
    const path = home().path('config', 'credentials.json');
    const saved = JSON.parse(readFileSync(path, 'utf8')) as Credentials;
    for (const seat of Object.values(saved.servers).flatMap(({ seats }) => Object.values(seats)))
      Object.assign(seat, { session: 'claude-code:gone', token: undefined });
    writeFileSync(path, JSON.stringify(saved));
    const { hint } = await refused(['say', 'hi'], { env: { SERVICE_SESSION: 'claude-code:gone' } });
    expect(hint).to.equal(
      'Hint: Ask your person to run: service agent create NAME --board demo; then: service resume NAME',
    );
    const env = { SERVICE_SESSION: 'claude-code:gone', SERVICE_SERVER: 'https://team.example.com' };
    expect((await refused(['say', 'hi'], { env })).hint).to.include(' --board demo --server local; then: ');
  });

  it('without a seat is told how to get one, and with some which there are', async () => {
    const none = (await refused(['say', 'hi', '--as', 'codex'])).hint;
    expect(none).to.equal('Hint: Make a seat: service agent create codex --board demo');
    expect((await refused(['say', 'hi'], inSession)).hint).to.equal('Hint: Take a seat: service join --board demo');
    expect((await refused(['agent', 'leave'])).hint).to.equal(
      'Hint: Make a seat: service agent create NAME --board demo',
    );
    for (const name of ['codex', 'claude']) await home().json(['agent', 'create', name, '--board', 'demo']);
    const named = 'Hint: Name a seat of this machine: --as codex or claude; or set SERVICE_AGENT';
    expect((await refused(['say', 'hi'], inSession)).hint).to.equal(named);
    expect((await refused(['agent', 'leave'])).hint).to.equal(named);
    await home().json(['board', 'create', 'other', '--no-link']);
    const elsewhere = await refused(['agent', 'leave', '--board', 'other']);
    expect(elsewhere.hint).to.equal('Hint: Make a seat: service agent create NAME --board other');
    await home().json(['agent', 'create', 'fixer', '--board', 'other']);
    const there = await refused(['agent', 'leave', '--board', 'other']);
    expect(there.hint).to.equal('Hint: Name a seat of this machine: --as fixer; or set SERVICE_AGENT');
  });

  it('is told of a seat at the server that was named, not of those at another', async () => {
    const path = home().path('config', 'credentials.json');
    const kept = readFileSync(path, 'utf8');
    const saved = JSON.parse(kept) as Credentials;
    const team = { server_id: 'srv_team', name: 'team', mode: 'team' as const, person: null, key: null };
    const [[id, seat]] = Object.values(saved.servers).flatMap(({ seats }) => Object.entries(seats)) as [
      [string, SavedSeat],
    ];
    const hint = async (server: string, seats: Record<string, SavedSeat>) => {
      const servers = { ...saved.servers, 'https://team.example.com': { ...team, seats } };
      writeFileSync(path, JSON.stringify({ ...saved, servers }));
      return (await refused(['agent', 'leave', '--server', server])).hint;
    };
    const make = 'Hint: Make a seat: service agent create NAME --board demo --server team';
    expect(await hint('team', {})).to.equal(make);
    const there = { [`${id}2`]: { ...seat, name: 'otto', token: `aba_${'A'.repeat(43)}` } };
    for (const named of ['team', 'https://team.example.com'])
      expect(await hint(named, there)).to.equal('Hint: Name a seat of this machine: --as otto; or set SERVICE_AGENT');
    expect(await hint('local', there))
      .to.match(/ --as (codex|claude)/)
      .and.not.include('otto');
    await hint('team', { [`${id}2`]: { ...there[`${id}2`]!, token: undefined } as never });
    const another = 'Hint: Its name stays taken; make another: service agent create NAME --board BOARD --server';
    expect((await refused(['say', 'hi', '--as', 'otto'])).hint).to.equal(`${another} https://team.example.com`);
    expect((await refused(['say', 'hi', '--as', 'gone'])).hint).to.equal(`${another} local`);
    writeFileSync(path, kept);
  });

  it('is told to update this program where the server is the newer one', async () => {
    const true_ = await startTestServer('sqlite');
    const info = (await (await fetch(`${true_.url}/v1/info`)).json()) as object;
    await true_.stop();
    let version = '9.1.0';
    const server = createServer(({ url }, response) => {
      const known = url === '/v1/info';
      response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' });
      const none = { error: { code: 'not_found', message: 'Not found.', hint: '' } };
      response.end(JSON.stringify(known ? { ...info, version, features: [] } : none));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const env = { SERVICE_SERVER: url, SERVICE_TOKEN: `abh_${'A'.repeat(43)}` };
    const laptop = new Home();
    try {
      for (const args of [
        ['board', 'list'],
        ['task', 'list', '-b', 'demo'],
      ]) {
        const newer = await laptop.run(args, { env });
        expect(newer.stderr).to.match(
          /^Error \(server_outdated\): The server \(version 9\.1\.0\) no longer has what this program \(version \S+\) asks for\.\nHint: Update this program: npm install -g board-service\n$/,
        );
      }
      version = '0.0.1';
      expect((await laptop.run(['board', 'list'], { env })).stderr).to.include('Update the server');
    } finally {
      server.close();
      laptop.discard();
    }
  });
});
