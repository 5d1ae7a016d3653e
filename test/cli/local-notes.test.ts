/** What was done is told, also where this machine cannot keep its note of it. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { homeWithBoard } from './support/shared.ts';

/** Root may enter all folders and read all files, unless that right is taken from it. */
const USER = 'unshare -r setpriv --bounding-set=-dac_override,-dac_read_search';

if (process.platform === 'linux')
  describe('a note that cannot be kept', () => {
    const home = homeWithBoard('notes');
    before(async () => {
      mkdirSync(home().path('state'), { recursive: true, mode: 0o700 });
      await home().json(['agent', 'create', 'codex']);
      writeFileSync(join(home().work, 'a.md'), 'one\n');
    });

    /** A command while one of the home's folders is on a disk that cannot be written. */
    const readOnly = async (folder: string, command: string, options = {}) => {
      const path = home().path(folder);
      const mount = `mount --bind ${path} ${path}; mount -o remount,ro,bind ${path}`;
      return home().shell(`unshare -rm sh -c '${mount}; service ${command}'`, options);
    };
    /** Its answer, which has one warning. */
    const warned = async (command: string) => {
      const { stdout } = await readOnly('state', `${command} --json`);
      const { warnings, ...record } = JSON.parse(stdout);
      expect(
        warnings?.map(({ code }: { code: string }) => code),
        stdout,
      ).to.deep.equal(['folder_unwritable']);
      return record;
    };

    it('leaves the file that was put or got, with a warning', async () => {
      expect(await warned('file put a.md')).to.include({ version: 1, changed: true });
      expect(await warned('file get a.md b.md')).to.include({ path: 'b.md', version: 1 });
      expect(readFileSync(join(home().work, 'b.md'), 'utf8')).to.equal('one\n');
      const { stdout, stderr } = await readOnly('state', 'file get a.md c.md');
      expect(stdout).to.match(/^a\.md v1 \(4 B\) is now \.\/c\.md/);
      expect(stderr).to.match(
        /^Warning: c\.md is a\.md v1, which could not be noted for the next file put: .*read-only\.\nHint: .+\n$/,
      );
    });

    it('leaves the task that was started, with a warning', async () => {
      const { task } = await home().json(['task', 'new', 'Name the limit', '--no-start', '--as', 'codex']);
      const started = await warned(`task start ${task.ref} --as codex`);
      expect(started.task).to.include({ ref: task.ref, state: 'in_progress' });
      const made = await warned('task new "Cap the backoff" --as codex');
      expect(made.task.state).to.equal('in_progress');
    });

    it('that would say nothing is not missed by a change under a key', async () => {
      const { ref } = (await home().json(['task', 'new', 'Round the delay', '--no-start'])).task;
      const { token } = await home().json(['agent', 'create', 'helper', '--print-token']);
      const env = { SERVICE_TOKEN: token, SERVICE_SERVER: (await home().json(['whoami'])).server.url };
      await home().json(['task', 'join', ref, '--board', 'notes'], { env });
      for (const options of [{}, { env }]) {
        const command = `task update ${ref} --stands Halfway --board notes --idempotency-key k1`;
        const { code, stderr } = await readOnly('state', command, options);
        expect([code, stderr]).to.deep.equal([0, '']);
      }
    });

    it('in a folder that this user may not enter keeps no command with a token from what it does', async () => {
      const { ref } = (await home().json(['task', 'new', 'Count the tries', '--no-start'])).task;
      const { token } = await home().json(['agent', 'create', 'job', '--print-token']);
      const { url } = (await home().json(['whoami'])).server;
      const env = { SERVICE_TOKEN: token, SERVICE_SERVER: url, SERVICE_BOARD: 'notes' };
      chmodSync(home().path('state'), 0);
      try {
        for (const [command, warnings] of [
          ['file put a.md --name locked.md', 1],
          ['say "See this" --attach a.md=attached.md', 1],
          ['file get locked.md a.md --force', 1],
          [`task start ${ref}`, 1],
          ['task note Halfway --idempotency-key n1', 2],
          ['task done Counted', 0],
          ['ask "Which?" "This" --going-with This --at 2h --idempotency-key a1', 1],
        ] as const) {
          const { code, stdout, stderr } = await home().shell(`${USER} service ${command} --json`, { env });
          expect(code, `${command}: ${stdout}${stderr}`).to.equal(0);
          const codes = (JSON.parse(stdout).warnings ?? []).map((warning: { code: string }) => warning.code);
          expect(codes, command).to.deep.equal(Array.from({ length: warnings }, () => 'folder_unwritable'));
        }
      } finally {
        chmodSync(home().path('state'), 0o700);
      }
    });

    it('leaves the refusal of a change of a task that was taken over, with a warning', async () => {
      const { task } = await home().json(['task', 'new', 'Say who has it', '--as', 'codex']);
      await home().json(['task', 'start', task.ref, '--take-over']);
      const { code, stderr } = await readOnly('state', `task note ${task.ref} "Half done" --as codex`);
      expect(code).to.equal(7);
      expect(stderr).to.match(
        /^Warning: NOT-\d is not owned here any more, which could not be noted .*read-only\.\nHint: .*\nError \(task_taken\): /,
      );
    });

    it('that another user left there is not taken for none', async () => {
      await home().json(['audit', 'verify']);
      await home().json(['file', 'put', 'a.md', '--name', 'noted.md']);
      const refuses = async (path: string, command: string) => {
        chmodSync(path, 0);
        const { code, stderr } = await home().shell(`${USER} service ${command}`);
        chmodSync(path, 0o600);
        expect([code, stderr.split('\n')[0]], command).to.deep.equal([
          1,
          `Error (folder_unwritable): ${path} cannot be used: permission is denied.`,
        ]);
      };
      await refuses(home().path('state', 'audit-heads.json'), 'audit verify');
      await refuses(home().path('state', 'audit-boards.json'), 'audit verify');
      await refuses(home().path('state', 'files.json'), 'file put a.md --name noted.md');
    });

    it('of the end of a record is missed where the folder may not be entered', async () => {
      chmodSync(home().path('state'), 0);
      const { code, stdout } = await home().shell(`${USER} service audit verify --json`);
      chmodSync(home().path('state'), 0o700);
      expect([code, JSON.parse(stdout).error?.code], stdout).to.deep.equal([1, 'folder_unwritable']);
    });

    it('leaves the refusal of an agent that was removed, with a warning', async () => {
      await home().json(['agent', 'create', 'gone']);
      const { url } = (await home().json(['whoami'])).server;
      const { members } = await home().json(['board', 'members', '--kind', 'agent']);
      const { id } = members.find(({ name }: { name: string }) => name === 'gone');
      const key = readFileSync(home().path('data', 'local-key'), 'utf8').trim();
      await fetch(`${url}/v1/boards/notes/members/${id}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${key}`, 'idempotency-key': 'gone' },
      });
      const { code, stderr } = await readOnly('config', 'whoami --as gone');
      expect(code).to.equal(4);
      expect(stderr).to.match(
        /^Warning: The token of gone is still on this machine: .*read-only\.\nHint: .*\nError \(agent_removed\): /,
      );
    });
  });
