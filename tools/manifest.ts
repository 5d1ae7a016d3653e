/** The text of oclif.manifest.json, from the commands as the framework finds them. */
import { Plugin } from '@oclif/core/config';
import { globalFlags } from '../src/cli/flags.ts';

type Json = Record<string, unknown>;

/**
 * The manifest of this package; the same sources always give the same text. Each command is a line, and the flags that every
 * command has stand once, under `globalFlags`: the file is read at every start.
 */
export async function manifestText(root: string): Promise<string> {
  const plugin = new Plugin({
    root,
    type: 'core',
    isRoot: true,
    ignoreManifest: true,
    respectNoCacheDefault: true,
    errorOnManifestCreate: true,
  });
  await plugin.load();
  const { commands, version } = sorted(plugin.manifest) as { commands: Record<string, Json>; version: string };
  const shared: Json = {};
  const lines = Object.entries(commands).map(([id, command]) => {
    const flags = Object.entries(command['flags'] as Json).filter(([name, flag]) => {
      if (!Object.hasOwn(globalFlags, name)) return true;
      shared[name] ??= flag;
      return JSON.stringify(shared[name]) !== JSON.stringify(flag);
    });
    return `${JSON.stringify(id)}:${JSON.stringify({ ...command, flags: Object.fromEntries(flags) })}`;
  });
  return `{"version":${JSON.stringify(version)},\n"globalFlags":${JSON.stringify(shared)},\n"commands":{\n${lines.join(',\n')}\n}}\n`;
}

/**
 * Sorts keys, because the order of the file system differs; arguments keep theirs, which is that in which they are typed.
 * False and empty values are left out.
 */
function sorted(value: unknown, of = ''): unknown {
  if (Array.isArray(value)) return value.map((part) => sorted(part));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, part]) => part && typeof part !== 'function');
  if (of !== 'args') entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, part]) => [key, sorted(part, key)]));
}
