#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { load } from './load.js';

// What harnesses run at each step has a file of its own; its help is the command line's.
const hook = process.argv[2] === 'hook' && !process.argv.some((word) => word === '--help' || word === '-h');
// What runs in the background leaves the command line out of its memory.
const daemon = process.argv[2] === 'daemon' && process.argv.length === 3;
const part = hook ? 'hook' : daemon ? 'daemon' : 'cli';
const { start } = load(fileURLToPath(new URL(`../dist/${part}.cjs`, import.meta.url)));
await start(import.meta.url);
