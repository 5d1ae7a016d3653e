/** The same for examples that are about a machine and its own server. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../support/free-port.ts';
import { collect, finished, type Home, until } from './home.ts';
import type { Play } from './plays.ts';

/** @param team a server that the machine knows besides. */
type Prepare = (home: Home, example: string, team: string) => Promise<Play>;

const stopped: Prepare = async (home) => {
  await home.run(['server', 'stop']);
  return {};
};

const running: Prepare = async (home) => {
  await home.run(['server', 'start']);
  return {};
};

const serving: Prepare = async (home, example, team) => {
  await stopped(home, example, team);
  return {
    until: 'listening',
    words: {
      '127.0.0.1:7400': `127.0.0.1:${await freePort()}`,
      '127.0.0.1:7401': `127.0.0.1:${await freePort()}`,
      '/srv/service': join(home.dir, 'srv'),
    },
  };
};

/** The folder of a team's server that was started once. */
const teamFolder: Prepare = async (home) => {
  const data = join(home.dir, 'srv');
  if (!existsSync(data)) {
    const listen = `127.0.0.1:${await freePort()}`;
    const args = ['--team', '--public-url', 'https://team.example.com', '--data', data, '--listen', listen];
    const child = home.start(['serve', ...args, '--admin', 'ana']);
    const printed = collect(child);
    await until('the team’s server listens', () => printed().stderr.includes('listening'));
    child.kill('SIGTERM');
    await finished(child);
  }
  return {
    words: { '/srv/service': data, '"s3://bucket/files?region=eu-west-1"': `disk://${join(home.dir, 'copy')}` },
  };
};

/** The machine knows a server called team. */
const knowing: Prepare = async (home, _example, team) => {
  await home.run(['server', 'start']);
  const path = home.path('config', 'credentials.json');
  const saved = JSON.parse(readFileSync(path, 'utf8'));
  const key = { id: 'key_x', name: 'x', expires_at: null, store: 'file', token: `abh_${'x'.repeat(43)}` };
  saved.servers[team] = { server_id: 'srv_x', name: 'team', mode: 'team', person: null, key, seats: {} };
  writeFileSync(path, JSON.stringify(saved), { mode: 0o600 });
  return {};
};

const withDaemon: Prepare = async (home, example, team) => {
  await running(home, example, team);
  await home.json(['daemon', 'start']);
  return example.includes('--follow') ? { until: '{' } : {};
};

const withoutDaemon: Prepare = async (home) => {
  await home.run(['daemon', 'stop']);
  return {};
};

/** A swarm of one agent that runs in the background, told in two files. */
const swarm: Prepare = async (home, example, team) => {
  await running(home, example, team);
  const text = 'board: payments\nagents:\n  - name: triage\n    harness: command\n    args: [cat]\n';
  mkdirSync(join(home.work, 'team'), { recursive: true });
  for (const path of ['service.yaml', 'team/service.yaml']) writeFileSync(join(home.work, path), text);
  return {};
};

const swarming: Prepare = async (home, example, team) => {
  await swarm(home, example, team);
  await home.json(['swarm', 'up', '--yes']);
  return {};
};

/** In the foreground, until it is interrupted. */
const inForeground: Prepare = async (home, example, team) => {
  await withoutDaemon(home, example, team);
  const rest = 'daemon & run=$!; until service daemon status -q; do :; done 2>/dev/null; kill -INT $run; wait $run #';
  return { words: { daemon: rest } };
};

export const machinePlays: Record<string, Prepare> = {
  'daemon:logs': withDaemon,
  'daemon:restart': withDaemon,
  'daemon:run': inForeground,
  'daemon:start': withoutDaemon,
  'daemon:status': withDaemon,
  'daemon:stop': withDaemon,
  doctor: running,
  init: async (home) => {
    spawnSync('git', ['init', '-q'], { cwd: home.work });
    writeFileSync(join(home.dir, '.profile'), `PATH=${join(home.dir, 'bin')}:$PATH\n`);
    return { env: { SHELL: '/bin/sh' } };
  },
  run: async (home, example, team) => {
    await withDaemon(home, example, team);
    await home.run(['agent', 'create', 'triage', '--board', 'general']);
    home.program('my-agent', 'exit 0');
    home.program('claude', 'exit 0');
    return { words: { './answer.sh': 'my-agent', '--as triage': '--as triage --idle-exit 1s' } };
  },
  serve: serving,
  'server:info': running,
  'server:logs': async (home, example, team) => {
    await running(home, example, team);
    return example.includes('--follow') ? { until: '{' } : {};
  },
  'server:recover-key': teamFolder,
  'server:restart': running,
  'server:start': stopped,
  'server:stop': running,
  'servers:forget': knowing,
  'servers:list': knowing,
  'servers:name': knowing,
  'servers:use': knowing,
  skill: running,
  status: running,
  'storage:check': teamFolder,
  'storage:copy': teamFolder,
  'storage:migrate': teamFolder,
  'swarm:down': swarming,
  'swarm:list': swarming,
  'swarm:ps': swarming,
  'swarm:show': swarm,
  'swarm:up': swarm,
  uninstall: running,
};
