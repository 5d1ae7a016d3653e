/** Reminds agents of things, each a limited number of times, counted on this machine. Failures are ignored. */
import type { Output } from '../../../cli/output.ts';
import { runtime } from '../../../cli/runtime.ts';
import { isRecord, noteFile } from '../../../local/private-file.ts';

type ReminderCode =
  | 'tasks_not_picked_up'
  | 'no_task_posts'
  | 'next_task'
  | 'ask_instead'
  | 'stands_stale'
  | 'ask_options'
  | 'first_task';

interface Reminder {
  code: ReminderCode | 'notices';
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
const memory = noteFile<Record<string, Record<string, Given>>>('nudges.json', {}, isRecord);

/** Gives a reminder to an agent unless it has had it often enough. @param agent the seat's member id. */
export async function remind(out: Output, agent: string, reminder: Reminder): Promise<void> {
  const { code, text } = reminder;
  const limited = reminder.every !== undefined || reminder.most !== undefined || reminder.about !== undefined;
  if (limited && !(await isDue(agent, reminder))) return;
  out.remind({ code, text });
}

/** Whether an agent was not told yet that this notice, the newest, waits. @param agent the seat's member id. */
export async function isNewsOfNotices(agent: string, newest: string): Promise<boolean> {
  let news = false;
  try {
    // Changed to what it is, which shows that it can be noted: a wait ends only on what can.
    await memory.change(runtime().folders, (before) => {
      news = before[agent]?.['notices']?.about !== newest;
      return before;
    });
    return news;
  } catch {
    return false;
  }
}

/** Notes that an agent was told of its notices. @param agent the seat's member id @param newest the id of the newest. */
export const noteNoticesTold = (agent: string, newest: string): Promise<boolean> =>
  isDue(agent, { code: 'notices', text: '', about: newest });

async function isDue(agent: string, { code, every, most, about }: Reminder): Promise<boolean> {
  let due = false;
  try {
    await memory.change(runtime().folders, (before) => {
      const last = before[agent]?.[code];
      const now = Date.now();
      const tooSoon = last && every !== undefined && now < last.at + every;
      const tooOften = last && most !== undefined && last.count >= most;
      const theSame = last && about !== undefined && last.about === about;
      if (tooSoon || tooOften || theSame) return before;
      due = true;
      const given = { at: now, count: (last?.count ?? 0) + 1, ...(about === undefined ? {} : { about }) };
      return { ...before, [agent]: { ...before[agent], [code]: given } };
    });
    return due;
  } catch {
    // What cannot be kept is not said: it would be said every time.
    return false;
  }
}
