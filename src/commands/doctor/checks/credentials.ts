/** Checks the file of servers and seats, and that keys can be read from where they are kept. */
import { plural } from '../../../cli/terminal/fields.ts';
import { Failure } from '../../../local/failure.ts';
import { credentialsPath, readCredentials } from '../../../local/keys/credentials.ts';
import { type KeychainState, keychainState } from '../../../local/keys/keychain.ts';
import { readKey } from '../../../local/keys/keystore.ts';
import { type Check, type Finding, failing, fine, warning } from '../lib/check.ts';

export const credentials: Check = {
  name: 'credentials',
  async run({ folders }) {
    // What keeps it from being read is thrown, with how to mend it.
    const { servers } = readCredentials(folders);
    const known = Object.values(servers);
    if (known.length === 0) return [fine('credentials', 'no server is known yet')];
    const seats = known.flatMap((entry) => Object.values(entry.seats)).filter((seat) => seat.token);
    const keyless = known.filter((entry) => entry.mode === 'team' && entry.key === null && entry.person !== null);
    return [
      fine(
        'credentials',
        `${plural(known.length, 'server', 'servers')} and ${plural(seats.length, 'seat', 'seats')} in ${credentialsPath(folders)}`,
      ),
      ...keyless.map((entry) =>
        warning(
          'credentials',
          'login_missing',
          `There is no key for ${entry.name} here.`,
          `service login ${urlOf(servers, entry)}`,
        ),
      ),
    ];
  },
};

const urlOf = <T>(servers: Record<string, T>, entry: T): string =>
  Object.entries(servers).find(([, one]) => one === entry)?.[0] ?? '';

export const keychain: Check = {
  name: 'keychain',
  async run({ folders, env, saved }) {
    const servers = Object.entries(saved?.servers ?? {});
    const keys = servers.filter(([, entry]) => entry.key !== null && entry.mode === 'team');
    const findings: Finding[] = [];
    const state = await keychainState(env);
    for (const [origin, entry] of keys) {
      if (entry.key?.store === 'file') findings.push(inFile(entry.name, state));
      if (entry.key?.store !== 'keychain') continue;
      try {
        if ((await readKey(folders, origin, entry)) === null) findings.push(gone(entry.name, origin));
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        findings.push(
          failing('keychain', error.code, `${entry.name}: ${error.message}`, login(entry.name, '--store file')),
        );
      }
    }
    if (findings.length > 0) return findings;
    return [fine('keychain', withoutKeys[state])];
  },
};

const gone = (name: string, origin: string): Finding =>
  failing('keychain', 'login_missing', `${name}: its key is no longer in the keychain.`, `service login ${origin}`);

const withoutKeys: Record<KeychainState, string> = {
  works: 'the system keychain answers',
  locked: 'the system keychain is locked, and no key needs it',
  none: 'no system keychain here, and no key needs one',
};

const reasons: Record<KeychainState, string> = {
  works: '',
  locked: ': the system keychain is locked',
  none: ': no system keychain here',
};

/** Moving it asks for the unlocking. */
const inFile = (name: string, state: KeychainState): Finding =>
  warning(
    'keychain',
    state === 'locked' ? 'keychain_locked' : 'keychain_unavailable',
    `The key for ${name} is in credentials.json (mode 0600)${reasons[state]}.`,
    state === 'none' ? null : login(name, '--move-to keychain'),
  );

const login = (name: string, flags: string): string => `service login ${name} ${flags}`;
