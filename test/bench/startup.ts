/** How long the command line takes for its shortest and its commonest command, against an empty Node program. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Figure, median, round } from './measure.ts';
import { benchDir, startProduct } from './world.ts';

const RUNS = 15;
const WARM_UP = 2;
const TARGETS = { version: 2, post: 3 };
const program = fileURLToPath(new URL('../../bin/run.js', import.meta.url));
const bundle = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));

export async function startup(): Promise<Figure[]> {
  if (!existsSync(bundle)) {
    process.stdout.write('startup: skipped, because there is no dist/; run `npm run build` first\n');
    return [];
  }
  mkdirSync(benchDir, { recursive: true });
  const home = mkdtempSync(join(benchDir, 'home-'));
  // Where the command line looks for the server of this machine and for its key.
  const product = await startProduct({ dataDir: join(home, 'data') });
  const env = {
    ...process.env,
    SERVICE_HOME: home,
    SERVICE_KEYSTORE: 'file',
    SERVICE_NO_AUTOSTART: '1',
  };
  try {
    await product.call('POST', '/v1/boards', { name: 'bench' });
    const commands = {
      node: ['-e', '0'],
      version: [program, '--version'],
      post: [program, 'board', 'post', 'The build is green again.', '--board', 'bench'],
    };
    const times = { node: [] as number[], version: [] as number[], post: [] as number[] };
    for (let n = 0; n < RUNS + WARM_UP; n++) {
      for (const name of Object.keys(commands) as (keyof typeof commands)[]) {
        const ms = await run(commands[name], env);
        if (n >= WARM_UP) times[name].push(ms);
      }
    }
    const node = median(times.node);
    const ratio = (name: 'version' | 'post'): number => median(times[name]) / node;
    const target = (title: string, name: 'version' | 'post'): Figure => ({
      name: title,
      value: round(ratio(name)),
      ratio: ratio(name),
      target: { op: '<=', value: TARGETS[name] },
    });
    return [
      { name: 'node -e 0', value: `${round(node, 0)} ms` },
      { name: 'service --version', value: `${round(median(times.version), 0)} ms`, ratio: ratio('version') },
      { name: 'service board post', value: `${round(median(times.post), 0)} ms`, ratio: ratio('post') },
      target('startup: --version to node', 'version'),
      target('startup: post to node', 'post'),
    ];
  } finally {
    await product.end();
    rmSync(home, { recursive: true, force: true });
  }
}

function run(args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString();
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(performance.now() - start);
      else reject(new Error(`${args.join(' ')} ended with ${code}: ${errors}`));
    });
  });
}
