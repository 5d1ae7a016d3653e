/** Whether the person's own settings let a program run `service` without asking. Changes nothing. */
import { join } from 'node:path';
import { parseJson } from '../../local/json.ts';
import type { Profile } from '../profile.ts';
import { readText } from './files.ts';

/** The contents of a settings file by precedence. */
type Texts = (name: string) => string[];

/** By harness. */
const checks: Record<string, (texts: Texts) => boolean> = {
  'claude-code': (texts) =>
    [...texts('settings.json'), ...texts('settings.local.json')].some((text) =>
      allowsAll(parseJson(text.replace(/^\ufeff/, ''))),
    ),
  codex: (texts) => {
    const values = Object.assign({}, ...texts('config.toml').toReversed().map(topOf)) as Record<string, string>;
    const free = [values['sandbox_mode'], values['default_permissions']].some((word) =>
      /^:?danger-full-access$/.test(word ?? ''),
    );
    const asks = values['approval_policy'];
    // Without a sandbox, only this policy asks about a command without a rule.
    return asks === 'never' || (free && asks !== 'untrusted');
  },
};

/** Whether `service` runs without an allow rule. @param folders of its settings, by precedence */
export const runsUnasked = ({ harness }: Profile, folders: readonly string[]): boolean =>
  checks[harness]?.((name) => folders.map((folder) => textAt(join(folder, name)))) ?? false;

/** Rules of Claude Code that allow every shell command, and modes that never ask. */
const ALL = ['Bash', 'Bash(*)', 'Bash(:*)'];
const NEVER_ASKS = ['bypassPermissions'];

function allowsAll(settings: unknown): boolean {
  const { permissions } = (settings ?? {}) as { permissions?: { allow?: unknown; defaultMode?: unknown } };
  const allow: unknown[] = Array.isArray(permissions?.allow) ? permissions.allow : [];
  return allow.some((rule) => ALL.includes(String(rule))) || NEVER_ASKS.includes(String(permissions?.defaultMode));
}

/** A missing or unreadable file allows nothing. */
function textAt(path: string): string {
  try {
    return readText(path) ?? '';
  } catch {
    return '';
  }
}

/** The text values before the first table of a TOML file. */
function topOf(text: string): Record<string, string> {
  const top = text.split(/^\s*\[/m, 1)[0]!;
  return Object.fromEntries(
    [...top.matchAll(/^\s*([\w-]+)\s*=\s*["']([^"'\n]*)["']/gm)].map(([, name, value]) => [name!, value!]),
  );
}
