/** The first hook of a session: registers it, identifies its commands, and prints the note about its seats. */
import { appendFileSync } from 'node:fs';
import type { Source } from '../daemon/protocol.ts';
import { builtinProfiles } from '../harness/builtin.ts';
import { asContext, request } from './ask.ts';
import type { Context } from './context.ts';
import { deliver } from './say.ts';

const sources: readonly string[] = ['startup', 'resume', 'clear', 'compact'];

/** Registers the session. Its commands get their identity even if the daemon does not answer. */
export async function startSession(context: Context): Promise<void> {
  const { header, input, env } = context;
  const source = (sources.includes(String(input.source)) ? input.source : 'startup') as Source;
  const boot =
    source === 'compact' ? undefined : Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString('hex');
  const launch = /^lch_[0-9a-f]{24}$/.test(env.SERVICE_LAUNCH ?? '') ? env.SERVICE_LAUNCH : undefined;
  const fields = { ...header, source, ...(boot ? { boot } : {}), ...(launch ? { launch } : {}) };
  let known = boot;
  try {
    await request(context, 'register', fields, ({ boot: current, note, ...carry }, connection) => {
      known = current ?? boot;
      return deliver({ ...carry, bundle: note }, connection, asContext(context));
    });
  } finally {
    identify(context, known);
  }
}

/** Exports the session's id to its commands, if the harness tells it only to hooks. */
function identify({ profile, header, env }: Context, boot: string | undefined): void {
  const { kind, env_file: variable } = profile.identity;
  const file = kind === 'hook' && variable ? env[variable] : undefined;
  if (!file) return;
  const foreign = builtinProfiles
    .filter(({ harness, identity }) => harness !== profile.harness && identity.kind === 'env')
    .flatMap(({ identity }) => [identity.env, identity.root_env])
    .filter((name): name is string => name !== undefined && env[name] !== undefined);
  const lines = [
    `export SERVICE_SESSION=${profile.harness}:${header.session}`,
    ...(boot ? [`export SERVICE_BOOT=${boot}`] : []),
    ...foreign.map((name) => `unset ${name}`),
  ];
  appendFileSync(file, `${lines.join('\n')}\n`);
}
