/** What `service status` says of this machine without asking any server: its daemon, and what was set up. */

import { runtime } from '../../../cli/runtime.ts';
import { here } from '../../../cli/session/here.ts';
import { readInstalled, type Scope } from '../../../harness/setup/installed.ts';
import { Failure } from '../../../local/failure.ts';

export interface StatusHere {
  /** This machine's delivery daemon; why it could not be asked, where it was not simply absent. */
  daemon: { running: boolean; pid: number | null; version: string | null; problem: string | null };
  /** The agent programs that `init` has written something for, and where. */
  setup: { harness: string; scope: Scope }[];
  /** The part of a session that runs this, which may only read. */
  subagent?: string;
}

/** Starts nothing and replaces nothing. */
export async function statusHere(): Promise<StatusHere> {
  const { subagent } = here();
  return { daemon: await daemonHere(), setup: setupHere(), ...(subagent === null ? {} : { subagent }) };
}

/** As `field value` lines. */
export function hereLines({ daemon, setup }: StatusHere): [string, string][] {
  const { running, pid, version, problem } = daemon;
  const words = running
    ? `running (pid ${pid}), version ${version}`
    : problem
      ? `not reached: ${problem}`
      : 'not running';
  return [
    ['Daemon', words],
    ['Setup', setup.map(({ harness, scope }) => `${harness} (${scope})`).join(', ') || 'none'],
  ];
}

async function daemonHere(): Promise<StatusHere['daemon']> {
  const stopped = { running: false, pid: null, version: null, problem: null };
  try {
    const { daemonStatus } = await import('../../../cli/local/daemon.ts');
    const status = await daemonStatus();
    return status ? { running: true, pid: status.pid, version: status.build.version, problem: null } : stopped;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { ...stopped, problem: error.code };
  }
}

/** What cannot be read is for doctor to say. */
function setupHere(): StatusHere['setup'] {
  try {
    const { items } = readInstalled(runtime().folders.state);
    const places = new Map(items.map(({ harness, scope }) => [`${harness} ${scope}`, { harness, scope }]));
    return [...places.values()];
  } catch {
    return [];
  }
}
