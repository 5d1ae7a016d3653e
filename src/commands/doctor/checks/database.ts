/** Checks that the database of this machine's server opens and has the schema of this build. */
import { loadServer } from '../../serve/lib/serve.ts';
import { type Check, failing, fine } from '../lib/check.ts';
import { dataHere } from './data.ts';

export const database: Check = {
  name: 'database',
  async run(around) {
    const data = dataHere(around);
    if (!data) return [fine('database', 'no server keeps its data here')];
    const { schemaOf } = await loadServer();
    const { db, missing, unknown } = await schemaOf(data);
    if (unknown.length > 0) {
      const problem = `${db} was written by a newer build: ${unknown.join(', ')}.`;
      return [failing('database', 'data_newer', problem, 'npm install -g board-service')];
    }
    if (missing.length > 0) {
      const problem = `${db} has an older schema; the next start of the server brings it up to date`;
      return [fine('database', problem)];
    }
    return [fine('database', `${db} opens and has this build's schema`)];
  },
};
