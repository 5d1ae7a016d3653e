/** The local server is killed in the middle of a command, which starts it again and goes on. */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { collect, finished, until } from './support/home.ts';
import { homeWithBoard } from './support/shared.ts';

describe('a local server that is killed in the middle of a command', () => {
  const home = homeWithBoard('demo', { bare: true, shared: true });

  async function killServer(): Promise<number> {
    const pid = home().serverPid() as number;
    process.kill(pid, 'SIGKILL');
    await until('the server is gone', () => !running(pid));
    return pid;
  }
  const startedAfter = (pid: number) =>
    until('another server runs', () => {
      const now = home().serverPid();
      return now !== null && now !== pid && running(now);
    });

  /** `say --ndjson-in` that reads a pipe which stays open, with one line posted. */
  async function posting(name: string, env: Record<string, string> = {}) {
    await home().shell(`mkfifo ${name}`);
    const child = home().startShell(`exec service say --ndjson-in --idempotency-key ${name} < ${name}`, { env });
    const printed = collect(child);
    const pipe = openSync(join(home().work, name), 'r+');
    const write = (body: string) => writeSync(pipe, `${JSON.stringify({ body })}\n`);
    const lines = () => printed().stdout.trim().split('\n').filter(Boolean);
    write(`${name} 1`);
    await until('a line is posted', () => lines().length === 1);
    return { child, write, lines, close: () => closeSync(pipe) };
  }

  it('loses no line of many and posts none twice', async () => {
    const { child, write, lines, close } = await posting('many');
    await killServer();
    for (const n of [2, 3]) write(`many ${n}`);
    await until('all lines are posted', () => lines().length === 3);
    close();
    expect((await finished(child)).code).to.equal(0);
    const { messages } = await home().json(['read', '--all']);
    const bodies = (messages as { body: string }[]).map(({ body }) => body).filter((body) => body.startsWith('many'));
    expect(bodies).to.deep.equal(['many 1', 'many 2', 'many 3']);
  });

  it('is named, with the way to start it, where it must not be started', async () => {
    const { child, write, lines, close } = await posting('none', { SERVICE_NO_AUTOSTART: '1' });
    await killServer();
    write('none 2');
    await until('the line is answered', () => lines().length === 2);
    const { error } = JSON.parse(lines()[1] as string);
    expect(error).to.include({ code: 'server_not_running', hint: 'service server start' });
    close();
    expect((await finished(child)).code).to.equal(8);
    await home().run(['server', 'start']);
  });

  it('is started by a command that follows a board', async () => {
    await home().json(['say', 'before']);
    const child = home().start(['read', '--follow', '--json', '--verbose']);
    const printed = collect(child);
    await until('the stream is open', () => printed().stderr.includes('/v1/stream'));
    await startedAfter(await killServer());
    await home().json(['say', 'after the crash'], { env: { SERVICE_NO_AUTOSTART: '1' } });
    await until('a message is shown', () => printed().stdout.includes('after the crash'), 40_000);
    child.kill('SIGINT');
    expect((await finished(child)).code).to.equal(0);
  });

  it('is started by a command that waits for a reply', async () => {
    await home().json(['agent', 'create', 'codex']);
    const child = home().start(['say', 'a question', '--wait-reply', '40', '--json', '--verbose']);
    const printed = collect(child);
    await until('the question is posted', () => printed().stderr.includes('POST'));
    await startedAfter(await killServer());
    const { messages } = await home().json(['read', '--limit', '1']);
    await home().json(['say', '--as', 'codex', '--no-notes', '--reply', String(messages[0].seq), 'an answer']);
    await until('the answer came', () => child.exitCode !== null);
    expect(JSON.parse(printed().stdout)).to.include({ outcome: 'reply' });
  });
});

function running(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}
