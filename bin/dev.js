#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
// Runs the command line from its TypeScript sources, without a build.
const { pathToFileURL } = require('node:url');

const part = process.argv[2] === 'hook' ? '../src/hook/main.ts' : '../src/cli/main.ts';
const entryUrl = pathToFileURL(__filename).href;
void import(part).then(({ start, main }) => (start ?? main)(entryUrl));
