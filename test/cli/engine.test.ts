/** A server whose data is in another database than its folder's own. */
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Failure } from '../../src/local/failure.ts';
import { folders as foldersOf } from '../../src/local/folders.ts';
import { ensureLocalServer } from '../../src/local/own-server/start.ts';
import { Home, until } from './support/home.ts';

describe('a server with a database of its own choice', () => {
  let home: Home;
  beforeEach(() => {
    home = new Home();
  });
  afterEach(() => home.close());
  /** What the server notes at each start. */
  const note = (storage: string, file = 'storage'): void => {
    mkdirSync(home.path('data'), { recursive: true, mode: 0o700 });
    writeFileSync(home.path('data', file), `${storage}\n`, { mode: 0o600 });
  };
  const refused = async (env: Record<string, string> = {}) => {
    const result = await home.run(['board', 'list', '--json'], { env });
    expect(result.code).to.equal(8);
    expect(existsSync(home.path('data', 'service.db')), 'no empty database is begun').to.equal(false);
    return JSON.parse(result.stdout).error;
  };

  it('is not started on an empty database; the command that starts it is named', async () => {
    note('postgres://maya@127.0.0.1:5432/boards');
    const error = await refused();
    expect(error.code).to.equal('server_not_running');
    expect(error.hint).to.equal('service serve --db postgres://maya@127.0.0.1:5432/boards');
  });

  it('is not started on another one than SERVICE_DB names', async () => {
    const error = await refused({ SERVICE_DB: 'postgres://127.0.0.1/boards' });
    expect(error).to.include({ code: 'server_not_running', hint: 'service serve' });
  });

  it('is not started on the files of its folder where SERVICE_FILES names others', async () => {
    const error = await refused({ SERVICE_FILES: 'disk:///srv/files' });
    expect(error).to.include({ code: 'server_not_running', hint: 'service serve' });
    expect(error.message).to.include('SERVICE_FILES');
  });

  it('is not started on the files of its folder where it was served with others', async () => {
    note('disk:///srv/my files', 'storage-files');
    expect(await refused()).to.include({
      code: 'server_not_running',
      hint: "service serve --files 'disk:///srv/my files'",
    });
  });

  it('is not stopped for a newer program or a restart that could not start it again', async () => {
    const serving = home.start(['serve', '--files', `disk://${home.path('big')}`]);
    await until('it serves', () => existsSync(home.path('data', 'server.pid')));
    const program = fileURLToPath(new URL('../../bin/run.js', import.meta.url));
    const options = { folders: foldersOf(home.env), env: home.env, program, version: '99.0.0' };
    const error = (await ensureLocalServer(options).catch((reason: unknown) => reason)) as Failure;
    expect(error).to.include({ code: 'server_not_running', hint: `service serve --files disk://${home.path('big')}` });
    const pid = home.serverPid();
    const restart = await home.run(['server', 'restart', '--json']);
    expect(JSON.parse(restart.stdout).error).to.include({ code: error.code, hint: error.hint });
    expect(home.serverPid()).to.equal(pid);
    expect(await home.json(['board', 'list'])).to.include.keys('boards');
    serving.kill();
    await once(serving, 'exit');
  });

  it('is started where SERVICE_FILES names the files of its folder', async () => {
    const env = { SERVICE_FILES: `disk://${home.path('data', 'files')}/` };
    expect(await home.json(['board', 'list'], { env })).to.include.keys('boards');
  });

  it('is started again once its folder was served with its own database', async () => {
    note('postgres://127.0.0.1/boards');
    await refused();
    note('embedded');
    expect(await home.json(['board', 'list'])).to.include.keys('boards');
  });
});
