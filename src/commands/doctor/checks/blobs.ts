/** Checks that the stored bytes of every file version exist and are intact. */
import { loadServer } from '../../serve/lib/serve.ts';
import { type Check, type Finding, failing, fine, warning } from '../lib/check.ts';
import { dataHere } from './data.ts';

/** More are only counted. */
const SHOWN = 20;

export const blobs: Check = {
  name: 'files',
  async run(around) {
    const data = dataHere(around);
    if (!data) return [];
    const { checkStorage } = await loadServer();
    const end = around.now() + around.limitMs;
    const found = await checkStorage(data, { enough: () => around.now() >= end });
    const { url: files, checked, bad, complete } = found;
    const count = `${checked} file versions`;
    const findings = bad.slice(0, SHOWN).map(({ digest, state, versions }): Finding => {
      const what = versions.map(({ board, name, version }) => `${name} v${version} on ${board}`).join(', ');
      const code = state === 'missing' ? 'blob_missing' : 'blob_corrupt';
      const words = state === 'missing' ? 'its bytes are missing' : 'its bytes are damaged';
      return failing(
        'files',
        code,
        `${what}: ${words} (${digest}).`,
        `service storage copy --from <a copy of them> --to ${files}`,
      );
    });
    if (bad.length > SHOWN) {
      const problem = `${bad.length - SHOWN} more are missing or damaged.`;
      findings.push(failing('files', 'check_failed', problem, 'service storage check'));
    }
    if (!complete) {
      const problem = `Only ${count} could be looked at in the time there is.`;
      findings.push(warning('files', 'request_timeout', problem, 'service storage check'));
    }
    if (findings.length > 0) return findings;
    return [fine('files', `${count}, none missing, none damaged`)];
  },
};
