/** Whether a program runs `service` for its agents without asking, by settings of its person's own. Changes nothing. */
import { join } from 'node:path';
import type { Profile } from '../profile.ts';
import { readText } from './files.ts';

/** The texts of a file of settings, the strongest first. */
type Texts = (name: string) => string[];

/** By the harness's name: where only its settings say it. */
const ways: Record<string, (texts: Texts) => boolean> = {
  'claude-code': (texts) =>
    [...texts('settings.json'), ...texts('settings.local.json')].some((text) => allowsAll(parsed(text))),
  codex: (texts) => {
    const values = Object.assign({}, ...texts('config.toml').toReversed().map(topOf)) as Record<string, string>;
    const free = [values['sandbox_mode'], values['default_permissions']].some((word) =>
      /^:?danger-full-access$/.test(word ?? ''),
    );
    const asks = values['approval_policy'];
    // Without a sandbox only the one policy asks about a command that no rule names.
    return asks === 'never' || (free && asks !== 'untrusted');
  },
};

/** Whether nothing has to be allowed for `service` to run. @param folders of its settings, the strongest first */
export const runsUnasked = ({ harness }: Profile, folders: readonly string[]): boolean =>
  ways[harness]?.((name) => folders.map((folder) => textAt(join(folder, name)))) ?? false;

/** Rules of Claude Code that let every command of the shell run, and modes in which none is asked for. */
const ALL = ['Bash', 'Bash(*)', 'Bash(:*)'];
const NEVER_ASKS = ['bypassPermissions'];

function allowsAll(settings: unknown): boolean {
  const { permissions } = (settings ?? {}) as { permissions?: { allow?: unknown; defaultMode?: unknown } };
  const allow: unknown[] = Array.isArray(permissions?.allow) ? permissions.allow : [];
  return allow.some((rule) => ALL.includes(String(rule))) || NEVER_ASKS.includes(String(permissions?.defaultMode));
}

/** A file that is not there, or cannot be read, allows nothing. */
function textAt(path: string): string {
  try {
    return readText(path) ?? '';
  } catch {
    return '';
  }
}

/** As the program reads it: what is no JSON it skips. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    return null;
  }
}

/** The words that stand ahead of the first table of a TOML file. */
function topOf(text: string): Record<string, string> {
  const top = text.split(/^\s*\[/m, 1)[0]!;
  return Object.fromEntries(
    [...top.matchAll(/^\s*([\w-]+)\s*=\s*["']([^"'\n]*)["']/gm)].map(([, name, value]) => [name!, value!]),
  );
}
