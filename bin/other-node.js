// Goes on in the Node that a checkout brings along, or says which Node is needed. Old Nodes have to be able to read it.
const { spawn } = require('child_process');
const { existsSync } = require('fs');
const { constants } = require('os');
const { join } = require('path');
const { needed } = require('./node-version.js');

const own = join(__dirname, '..', 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');

if (existsSync(own)) {
  const child = spawn(own, process.argv.slice(1), { stdio: 'inherit' });
  // A terminal sends Ctrl-C to both processes; what is sent to this one alone is passed on.
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'])
    process.on(signal, () => (signal === 'SIGINT' && process.stdin.isTTY ? null : child.kill(signal)));
  child.on('error', refuse);
  child.on('close', (code, signal) => process.exit(signal === null ? code : 128 + constants.signals[signal]));
} else {
  refuse();
}

function refuse() {
  process.stderr.write(
    `service needs Node.js ${needed} or newer, but this is ${process.version}. Get a newer one from https://nodejs.org.\n`,
  );
  process.exit(1);
}
