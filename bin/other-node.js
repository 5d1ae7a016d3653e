// Goes on in the Node that a checkout brings along. Old Nodes have to be able to read this file.
const { spawn } = require('child_process');
const { existsSync } = require('fs');
const { constants } = require('os');
const { join } = require('path');

const name = process.platform === 'win32' ? 'node.exe' : 'node';
const own = join(__dirname, '..', 'node_modules', 'node', 'bin', name);

/** Runs the same words in the checkout's own Node, or says which Node is needed. */
exports.goOn = (needed) => {
  const refuse = () => {
    const found = `service needs Node.js ${needed} or newer, but this is ${process.version}.`;
    process.stderr.write(`${found} Get a newer one from https://nodejs.org.\n`);
    process.exit(1);
  };
  if (!existsSync(own)) return refuse();
  const child = spawn(own, process.argv.slice(1), { stdio: 'inherit' });
  child.on('error', refuse);
  child.on('close', (code, signal) => process.exit(signal === null ? code : 128 + constants.signals[signal]));
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'])
    process.on(signal, () => {
      // A terminal sends Ctrl-C to both processes; what is sent to this one alone is passed on.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
};
