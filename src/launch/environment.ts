/** The environment of a program that is started for an agent: without tokens and without variables of other sessions. */
import { builtinProfiles } from '../harness/builtin.ts';
import { type Env, envOf } from '../local/folders.ts';

const ownVariables = [
  'SERVICE_TOKEN',
  'SERVICE_TOKEN_FILE',
  'SERVICE_AGENT',
  'SERVICE_LAUNCH',
  'SERVICE_SESSION',
  'SERVICE_BOOT',
  'SERVICE_SUBAGENT',
  'SERVICE_HANDOFF',
  // Defaults of the person do not apply to agents.
  'SERVICE_BOARD',
  'SERVICE_SERVER',
  // Settings of the server's operator.
  'SERVICE_DB',
];

/** Variables that are removed from a started program's environment. */
export const removedVariables: readonly string[] = [
  ...new Set([
    ...ownVariables,
    ...builtinProfiles.flatMap(({ session_env, identity }) => [
      ...session_env,
      ...[identity.env, identity.root_env, identity.env_file].filter((name) => name !== undefined),
    ]),
  ]),
];

/** The environment without `removedVariables`. */
export function withoutRemoved(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !removedVariables.includes(name)));
}

const passedVariables =
  /^(PATH|SERVICE_HOME|SERVICE_(CONFIG|DATA|STATE|CACHE)_DIR|SERVICE_KEYSTORE|SERVICE_NO_AUTOSTART|XDG_(CONFIG|DATA|STATE|CACHE)_HOME|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE)$/;

/** The variables that a program needs to find other programs and this person's folders. */
export const passedEnvironment = (env: Env, further = ''): Record<string, string> => ({
  ...envOf(env, passedVariables),
  ...(env[further] === undefined ? {} : { [further]: env[further] }),
});
