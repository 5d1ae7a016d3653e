/** Reminds agents of things, each a limited number of times, counted on this machine. Failures are ignored. */
import { join } from 'node:path';
import type { Output } from '../../../cli/output.ts';
import { runtime } from '../../../cli/runtime.ts';
import { withLock } from '../../../local/lock.ts';
import { parseOwn, readPrivate, writePrivate } from '../../../local/private-file.ts';

type ReminderCode =
  | 'tasks_not_picked_up'
  | 'no_task_posts'
  | 'next_task'
  | 'ask_instead'
  | 'stands_stale'
  | 'ask_options'
  | 'first_task';

interface Reminder {
  code: ReminderCode;
  /** One line of at most 200 bytes. */
  text: string;
  /** At most once in this many milliseconds. */
  every?: number;
  /** At most this many times. */
  most?: number;
  /** What it is about: again only when that is something else. */
  about?: string;
}

interface Given {
  at: number;
  count: number;
  about?: string;
}

/** By the seat's member id, then by code. */
type Memory = Record<string, Record<string, Given>>;

/** Gives a reminder to an agent unless it has had it often enough. @param agent the seat's member id. */
export async function remind(out: Output, agent: string, reminder: Reminder): Promise<void> {
  const { code, text } = reminder;
  const limited = reminder.every !== undefined || reminder.most !== undefined || reminder.about !== undefined;
  if (limited && !(await isDue(agent, reminder))) return;
  out.remind({ code, text });
}

async function isDue(agent: string, { code, every, most, about }: Reminder): Promise<boolean> {
  const path = join(runtime().folders.state, 'nudges.json');
  try {
    return await withLock(`${path}.lock`, () => {
      const memory = read(path);
      const last = memory[agent]?.[code];
      const now = Date.now();
      if (last) {
        if (every !== undefined && now < last.at + every) return false;
        if (most !== undefined && last.count >= most) return false;
        if (about !== undefined && last.about === about) return false;
      }
      const given = { at: now, count: (last?.count ?? 0) + 1, ...(about === undefined ? {} : { about }) };
      memory[agent] = { ...memory[agent], [code]: given };
      writePrivate(path, `${JSON.stringify(memory)}\n`);
      return true;
    });
  } catch {
    // What cannot be kept is not said: it would be said every time.
    return false;
  }
}

function read(path: string): Memory {
  const text = readPrivate(path);
  return text === null ? {} : parseOwn(path, text, isMemory);
}

function isMemory(value: unknown): value is Memory {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
