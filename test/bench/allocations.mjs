// Loaded before a server: samples what it allocates, what is collected again included, and writes that when it ends.
import { mkdirSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join } from 'node:path';

const folder = new URL(import.meta.url).searchParams.get('folder');
const session = new Session();
session.connect();
session.post('HeapProfiler.startSampling', {
  samplingInterval: 65_536,
  includeObjectsCollectedByMajorGC: true,
  includeObjectsCollectedByMinorGC: true,
});
process.on('exit', () => {
  session.post('HeapProfiler.stopSampling', (error, { profile } = {}) => {
    if (error) throw error;
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'allocations.json'), JSON.stringify(profile));
  });
});
