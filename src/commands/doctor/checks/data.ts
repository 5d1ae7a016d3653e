/** Checks the database and the files of this machine's server, which are opened for reading only. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { plural } from '../../../cli/terminal/fields.ts';
import { shellArgument } from '../../../contract/text.ts';
import { failWith, loadServer } from '../../serve/lib/serve.ts';
import { type Around, type Check, type Finding, failing, fine, warning } from '../lib/check.ts';

/** Where the server that is looked at keeps its data, if it does. */
export const dataFolder = ({ folders, env }: Around): string =>
  env.SERVICE_DATA ? resolve(env.SERVICE_DATA) : folders.data;

/** What the server would be started on; null: there is no server's data here. */
function dataHere(around: Around) {
  const { env } = around;
  const dataDir = dataFolder(around);
  if (!existsSync(join(dataDir, 'server-secret'))) return null;
  return {
    dataDir,
    ...(env.SERVICE_DB ? { db: env.SERVICE_DB } : {}),
    ...(env.SERVICE_FILES ? { files: env.SERVICE_FILES } : {}),
  };
}

/** Whether the database opens and has the schema of this build. */
export const database: Check = {
  name: 'database',
  async run(around) {
    const data = dataHere(around);
    if (!data) return [fine('database', 'no server keeps its data here')];
    const { schemaOf } = await loadServer();
    const { db, missing, unknown } = await schemaOf(data).catch(failWith);
    if (unknown.length > 0) {
      const problem = `${db} was written by a newer build: ${unknown.join(', ')}.`;
      return [failing('database', 'data_newer', problem, 'npm install -g board-service')];
    }
    const older = missing.length > 0;
    const how = older
      ? 'has an older schema; the next start of the server brings it up to date'
      : "opens and has this build's schema";
    return [fine('database', `${db} ${how}`)];
  },
};

/** More are only counted. */
const SHOWN = 20;

/** Whether the bytes of every file version are there and whole. */
export const blobs: Check = {
  name: 'files',
  async run(around) {
    const data = dataHere(around);
    if (!data) return [];
    const { checkStorage } = await loadServer();
    const end = around.now() + around.limitMs;
    const found = await checkStorage(data, { enough: () => around.now() >= end }).catch(failWith);
    const { url: files, checked, bad, complete } = found;
    const count = plural(checked, 'file version', 'file versions');
    const findings = bad.slice(0, SHOWN).map(({ digest, state, versions }): Finding => {
      const what = versions.map(({ board, name, version }) => `${name} v${version} on ${board}`).join(', ');
      const [code, how] = state === 'missing' ? ['blob_missing', 'missing'] : ['blob_corrupt', 'damaged'];
      const fix = `service storage copy --from <a copy of them> --to ${shellArgument(files)}`;
      return failing('files', code, `${what}: its bytes are ${how} (${digest}).`, fix);
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
