/** What others wrote, at a terminal: questions, bytes of files and JSON; and the same in a pipe, byte for byte. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { Home } from './support/home.ts';
import { HostileServer, hostile, shown } from './support/hostile.ts';
import { homeWithBoard } from './support/shared.ts';
import { typedRaw } from './support/terminal.ts';

/** What of the hostile text acts, and none of the prompts draws with. */
const acting = /\u001b\[8m|\u001b\]|\u0007|[\u0080-\u009f\u202a-\u202e\u2066-\u2069]/;

describe('at a terminal', () => {
  const home = homeWithBoard('demo', { bare: true, shared: true });

  let server: HostileServer;
  before(async () => {
    server = await HostileServer.start();
  });
  after(() => server.stop());

  it('a question shows what a server wrote, and obeys none of it', async () => {
    const laptop = new Home();
    writeFileSync(`${laptop.work}/invite.txt`, `${server.url}/join#abi_${'A'.repeat(43)}\n`);
    mkdirSync(laptop.path('config'), { recursive: true });
    for (const manner of ['kept', 'broken'] as const) {
      server.manner = manner;
      const line = 'service connect "$(cat invite.txt)" --handle maya';
      const said = await typedRaw(laptop, line, [['Connect to', 'n']]);
      expect(said).to.include(shown).and.include('Nothing changed.');
      expect(said).to.not.match(acting);
    }
    laptop.discard();
  });

  it('bytes that are no text are refused, with a line that gets the same ones elsewhere', async () => {
    writeFileSync(`${home().work}/bytes.bin`, Buffer.from([0, 1, 2]));
    const { file } = await home().json(['file', 'put', 'bytes.bin']);
    const said = await typedRaw(home(), 'service file get bytes.bin@1 - --board demo --server local', []);
    expect(said).to.include(`: service file get ${file.id}@1 - --server local --board demo > file\r\n`);
  });

  it('asks line by line where the terminal cannot move the cursor, or its screen is read aloud', async () => {
    const said = await typedRaw(home(), 'TERM=dumb service board create --no-link', [['Name of the board', 'pantry']]);
    expect(said).to.match(/^Name of the board \(work\) pantry\r\nCreated board/);
    const declined = await typedRaw(home(), 'ACCESSIBLE=1 service board archive pantry', [
      ['(y/N)', 'perhaps'],
      ['(y/N)', 'n'],
    ]);
    expect(declined).to.match(
      /^Archive pantry\? .*restored\. \(y\/N\) perhaps\r\nArchive .*\(y\/N\) n\r\nNothing changed\.\r\n$/,
    );
    const interrupted = await typedRaw(home(), 'TERM=dumb service board archive pantry', [['(y/N)', '\x03']]);
    expect(interrupted).to.match(/Nothing changed\.\r\n$/);
    writeFileSync(`${home().work}/shared.txt`, 'one');
    await home().json(['file', 'put', 'shared.txt']);
    const meanwhile = 'echo two > shared.txt; service file put shared.txt -q; echo three > "$1"';
    home().program('slow-editor', meanwhile);
    const conflict = await typedRaw(home(), 'TERM=dumb EDITOR=slow-editor service file edit shared.txt', [
      ['What now?', '9'],
      ['What now?', '3'],
    ]);
    expect(conflict).to.match(/ {2}1 .*\r\n {2}2 .*\r\n {2}3 /);
    for (const shown of [said, declined, interrupted, conflict]) expect(shown).to.not.include('\x1b');
  });

  it('a record in JSON says the same and obeys none of it', async () => {
    await home().json(['say', hostile.replaceAll('\0', '')]);
    const said = await typedRaw(home(), 'service read --limit 1 --json', []);
    expect(said).to.not.match(acting);
    expect(JSON.parse(said).messages[0].body).to.equal(hostile.replaceAll('\0', ''));
  });

  it('the bytes of a file are shown, and in a pipe they are what they are', async () => {
    const bytes = Buffer.concat([Buffer.from(hostile.replaceAll('\0', '')), Buffer.from([0xff, 0xc3, 0x0a])]);
    writeFileSync(`${home().work}/hostile.txt`, bytes);
    await home().json(['file', 'put', 'hostile.txt']);
    expect(await typedRaw(home(), 'service file get hostile.txt -', []))
      .to.include(shown)
      .and.not.match(acting);
    const { code } = await home().shell('service file get hostile.txt - | cmp - hostile.txt');
    expect(code).to.equal(0);
  });

  it('the record taken out is shown, and in a pipe it is what the server sent', async () => {
    expect(await typedRaw(home(), 'service audit export -', [])).to.not.match(acting);
    const { stdout } = await home().run(['audit', 'export', '-']);
    expect(stdout).to.include('\u009b2J');
  });
});
