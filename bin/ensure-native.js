/**
 * Some installations of npm hold back the scripts of packages, and the database's native part is then missing.
 * It is made here, before the first build, so that the two commands of the README are enough everywhere.
 */
import { spawnSync } from 'node:child_process';

async function works() {
  try {
    const { default: Sqlite } = await import('better-sqlite3');
    new Sqlite(':memory:').close();
    return true;
  } catch {
    return false;
  }
}

if (!(await works())) {
  console.error('Building the native part of better-sqlite3 once…');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const options = { stdio: 'inherit', shell: process.platform === 'win32' };
  const { status } = spawnSync(
    npm,
    ['rebuild', 'better-sqlite3', '--foreground-scripts', '--ignore-scripts=false'],
    options,
  );
  if (status !== 0) process.exit(status ?? 1);
}
