#!/usr/bin/env node
// An old Node has to be able to read this file, so that it can say which one is needed.
const { existsSync } = require('fs');
const { join } = require('path');

const needed = require('../package.json').engines.node.slice('>='.length);
const entry = join(__dirname, '..', 'dist', 'entry.cjs');

function isOlder() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [neededMajor, neededMinor] = needed.split('.').map(Number);
  return major < neededMajor || (major === neededMajor && minor < neededMinor);
}

if (isOlder()) {
  require('./other-node.js').goOn(needed);
} else if (existsSync(entry)) {
  require(entry).start(__filename);
} else {
  process.stderr.write('This checkout is not built yet. Run: npm ci && npm run build\n');
  process.exit(1);
}
