/** A person with agent programs on one machine: an empty home, their own server and daemon, a board. */
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { daemonStatus } from '../../src/daemon/control/ask.ts';
import type { StatusAnswer } from '../../src/daemon/protocol.ts';
import { People } from '../../tools/harness-kit/people.ts';
import { Home, root } from '../cli/support/home.ts';
import { Agent } from './agent.ts';
import { bin } from './programs/installed.ts';
import type { Program } from './programs/program.ts';

export const board = 'demo';
/** The seat of another agent of the same person, which no program stands behind. */
export const peer = 'helper';

export class World {
  readonly home = new Home({ bare: true });
  private readonly agents: Agent[] = [];

  /** As on a machine where somebody has run `service init` once and made a board, and nothing else. */
  static async make(...programs: Program[]): Promise<World> {
    const world = new World();
    const { dir, env } = world.home;
    for (const { command, apart } of programs)
      for (const name of [command, ...(apart?.beside ?? [])])
        symlinkSync(bin(name, apart?.folder), join(dir, 'bin', name));
    // A program may run commands in a login shell, which begins with the path of the system.
    writeFileSync(join(dir, '.profile'), `export PATH='${env['PATH']}'\n`);
    for (const program of programs) world.agents.push(await Agent.on(world, program));
    await world.service('init', '--yes');
    await world.service('board', 'create', board, '--no-link');
    await world.service('agent', 'create', peer, '--board', board);
    return world;
  }

  /** The agent that has a session of this program. */
  agent({ harness }: Program): Agent {
    return this.agents.find(({ program }) => program.harness === harness)!;
  }

  /** One command of the person in a terminal of theirs; its JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: what a command printed is checked field by field
  service(...args: string[]): Promise<any> {
    return this.home.json(args, { cwd: this.home.work });
  }

  /** The person says something on the board. */
  async say(text: string, ...flags: string[]): Promise<void> {
    await this.service('board', 'post', '--board', board, ...flags, text);
  }

  /** The person's other agent says something on the board. */
  async peerSays(text: string): Promise<void> {
    await this.service('board', 'post', '--as', peer, '--board', board, text);
  }

  /** What the daemon tells of itself, without a process for each look. */
  daemon(): Promise<StatusAnswer> {
    return daemonStatus(this.home.path('state'));
  }

  /** The person and their seats, as clients of the server. */
  people(): People {
    const address = readFileSync(this.home.path('data', 'server.addr'), 'utf8').trim();
    return new People(this.home.store, `http://${address}`);
  }

  /** How many messages the inbox of a seat holds unread, as the server tells it. */
  async unread(seat: string): Promise<number> {
    const people = this.people();
    const { id } = await people.member(board, seat);
    return (await people.inbox(id)).messages.length;
  }

  /** As if a newer version of this product had been installed over it, and a command of it had run. */
  async upgrade(version: string): Promise<void> {
    const newer = join(this.home.dir, 'newer');
    for (const part of ['bin', 'dist', 'migrations', 'oclif.manifest.json'])
      cpSync(join(root, part), join(newer, part), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(newer, 'node_modules'));
    const about = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    writeFileSync(join(newer, 'package.json'), JSON.stringify({ ...about, version }));
    const program = join(this.home.dir, 'bin', 'service');
    unlinkSync(program);
    symlinkSync(join(newer, 'bin', 'run.js'), program);
    await this.service('daemon', 'start');
  }

  async end(): Promise<void> {
    for (const agent of this.agents) agent.end();
    await this.home.run(['server', 'stop']);
    // What a program left running in the background, which its home names.
    spawnSync('pkill', ['-KILL', '-f', this.home.dir]);
    await this.home.close();
  }
}
