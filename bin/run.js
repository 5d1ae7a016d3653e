#!/usr/bin/env node
// An old Node has to be able to read this file, so that it can say which one is needed.
const { existsSync } = require('fs');
const { join } = require('path');
const { older } = require('./node-version.js');

const entry = join(__dirname, '..', 'dist', 'entry.cjs');

if (older()) {
  require('./other-node.js');
} else if (existsSync(entry)) {
  require(entry).start(__filename);
} else {
  process.stderr.write('This checkout is not built yet. Run: npm ci && npm run build\n');
  process.exit(1);
}
