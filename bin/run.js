#!/usr/bin/env node
import module from 'node:module';

// Node 22 and later keep the compiled form of what this loads.
module.enableCompileCache?.();

// What harnesses run at each step has a file of its own; its help is the command line's.
const hook = process.argv[2] === 'hook' && !process.argv.some((word) => word === '--help' || word === '-h');
// What runs in the background leaves the command line out of its memory.
const daemon = process.argv[2] === 'daemon' && process.argv.length === 3;
const part = hook ? 'hook' : daemon ? 'daemon' : 'cli';
const { start } = module.createRequire(import.meta.url)(`../dist/${part}.cjs`);
await start(import.meta.url);
