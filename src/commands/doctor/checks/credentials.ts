/** Checks that the file of servers and seats can be read and holds a credential. */
import { credentialsPath, readCredentials } from '../../../local/keys/credentials.ts';
import { type Check, fine, warning } from '../lib/check.ts';

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
      fine('credentials', `${known.length} servers and ${seats.length} seats in ${credentialsPath(folders)}`),
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
