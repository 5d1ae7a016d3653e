#!/usr/bin/env node
import module from 'node:module';

// Node 22 and later keep the compiled form of what this loads.
module.enableCompileCache?.();

const { start } = module.createRequire(import.meta.url)('../dist/cli.cjs');
await start(import.meta.url);
