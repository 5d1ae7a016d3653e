#!/usr/bin/env node
// An old Node has to be able to read this file, so that it can say which one is needed.
const { older } = require('./node-version.js');

if (older()) require('./other-node.js');
else require('../dist/entry.cjs').start(__filename);
