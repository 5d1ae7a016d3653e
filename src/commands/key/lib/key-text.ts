/** Formats access keys. */
import { called } from '../../../cli/runtime.ts';
import { plural } from '../../../cli/terminal/fields.ts';
import { table } from '../../../cli/terminal/table.ts';
import { showEnd, showTime, type TimeStyle } from '../../../cli/terminal/time.ts';
import type { AccessKey, Answer } from '../../../contract/types.ts';
import type { KeyList } from './keys.ts';

/** One row per key, the one in use marked. */
export const keyRows = ({ keys, current_key_id }: KeyList, times: TimeStyle): Promise<string[]> =>
  table(
    ['NAME', 'STATE', 'LAST USED', 'ENDS', 'SESSIONS', 'AGENTS', 'NOTES'],
    keys.map((key) => [
      key.name,
      key.state,
      key.last_used_at === null ? 'never' : showTime(key.last_used_at, times),
      endOf(key, times),
      String(key.browser_sessions),
      String(key.agent_seats),
      key.id === current_key_id ? 'this machine' : '',
    ]),
  );

function endOf(key: AccessKey, times: TimeStyle): string {
  if (key.revoked_at !== null) return showTime(key.revoked_at, times);
  if (key.expires_at === null) return 'never';
  if (key.state === 'expired') return showTime(key.expires_at, times);
  const idle = key.idle_expiry_seconds;
  return idle === null ? showEnd(key.expires_at, times) : `unused for ${Math.round(idle / 86_400)}d`;
}

/** What a new key is, the secret on a line of its own, and how to end it. */
export const newKeyText = (
  key: Answer<'createKey'>,
  { handle, url, times }: { handle: string; url: string; times: TimeStyle },
): string =>
  [
    `Key ${key.name} acts as ${handle} on ${url} for everyone who has it; it expires ${showEnd(key.expires_at ?? '', times)}. Shown only now:`,
    key.token,
    called(`Revoke it with: service key revoke ${key.name}`),
  ].join('\n');

/** What works because of a key, and stops with it; empty where nothing does. */
export function hangsOn({ browser_sessions: browsers, agent_seats: agents }: AccessKey): string {
  const counted = [
    browsers > 0 ? plural(browsers, 'browser session', 'browser sessions') : '',
    agents > 0 ? plural(agents, 'agent', 'agents') : '',
  ];
  return counted.filter(Boolean).join(' and ');
}
