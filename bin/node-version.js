// Which Node this program needs; the lowest version of `engines` in package.json.
const needed = '22.18';

/** Whether the Node that runs is older than that. */
function older() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [needsMajor, needsMinor] = needed.split('.').map(Number);
  return major < needsMajor || (major === needsMajor && minor < needsMinor);
}

module.exports = { needed, older };
