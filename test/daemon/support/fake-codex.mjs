#!/usr/bin/env node
/**
 * Stands in for a program with a queue and an app server. What it is asked, with its arguments and its configuration
 * folder, it appends to $FAKE_LOG; how it answers is told by the thread's name.
 */
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [verb, ...args] = process.argv.slice(2);
const note = (record) => appendFileSync(process.env.FAKE_LOG, `${JSON.stringify(record)}\n`);

if (verb === '--version') console.log(`codex-cli ${process.env.FAKE_VERSION ?? '0.169.0'}`);
else if (verb === 'queue') {
  const thread = args[args.indexOf('--thread') + 1];
  note({ verb, args, home: process.env.CODEX_HOME ?? null });
  const fail = (code, text) => {
    console.error(text);
    process.exit(code);
  };
  if (thread === 'locked') fail(1, 'error: database is locked');
  if (thread === 'busy75') fail(75, 'later');
  if (thread === 'absent') fail(1, 'error: no rollout found for thread absent');
  if (thread === 'broken') fail(3, 'something\nbroke\u001b[31m');
  if (thread === 'hangs') setTimeout(() => {}, 60_000);
} else if (verb === 'app-server') {
  const threads = {
    own: { id: 'own', source: 'cli' },
    child: { id: 'child', source: { subAgent: { thread_spawn: { depth: 1 } } } },
    parented: { id: 'parented', source: 'cli', parentThreadId: 'own' },
  };
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    const reply = (body) => console.log(JSON.stringify({ id, ...body }));
    if (method === 'initialize') reply({ result: { userAgent: 'fake' } });
    if (method !== 'thread/read') return;
    note({ verb, thread: params.threadId, home: process.env.CODEX_HOME ?? null });
    if (params.threadId === 'silent') return;
    const thread = threads[params.threadId];
    if (thread) reply({ result: { thread } });
    else if (params.threadId === 'fresh') reply({ error: { code: -32600, message: 'thread not loaded: fresh' } });
    else if (params.threadId === 'odd') reply({ error: { code: -32603, message: 'internal' } });
    else reply({ error: { code: -32600, message: `thread not found: ${params.threadId}` } });
  });
} else process.exit(1);
