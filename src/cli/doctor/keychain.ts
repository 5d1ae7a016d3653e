/** Where keys are kept, and whether they can be taken from there. */
import { Failure } from '../../local/failure.ts';
import { keychainPossible, keychainWorks } from '../../local/keychain.ts';
import { readKey } from '../../local/keystore.ts';
import { type Check, type Finding, failing, fine, warning } from './check.ts';

export const keychain: Check = {
  name: 'keychain',
  async run({ folders, env, saved }) {
    const keys = Object.values(saved?.servers ?? {}).filter((entry) => entry.key !== null && entry.mode === 'team');
    const findings: Finding[] = [];
    const works = keychainPossible(env) && (await keychainWorks());
    for (const entry of keys) {
      if (entry.key?.store === 'file') findings.push(inFile(entry.name, works));
      if (entry.key?.store !== 'keychain') continue;
      try {
        await readKey(folders, entry);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        findings.push(failing('keychain', error.code, `${entry.name}: ${error.message}`, 'service login --store file'));
      }
    }
    if (findings.length > 0) return findings;
    return [fine('keychain', works ? 'the system keychain answers' : 'no system keychain here, and no key needs one')];
  },
};

const inFile = (name: string, works: boolean): Finding =>
  warning(
    'keychain',
    'keychain_unavailable',
    `The key for ${name} is in credentials.json (mode 0600)${works ? '' : ': no system keychain here'}.`,
    works ? 'service login --move-to keychain' : null,
  );
