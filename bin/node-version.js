// Which Node this program needs, and whether the one that runs is older. Old Nodes have to be able to read this file.
const needed = require('../package.json').engines.node.slice('>='.length);

function older() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [neededMajor, neededMinor] = needed.split('.').map(Number);
  return major < neededMajor || (major === neededMajor && minor < neededMinor);
}

module.exports = { needed, older };
