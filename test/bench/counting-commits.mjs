// Loaded before a server on SQLite: counts its commits, of which each syncs the log once, and tells them with what it used.
import { createRequire } from 'node:module';

const Sqlite = createRequire(import.meta.url)('better-sqlite3');
const { prepare } = Sqlite.prototype;
let commits = 0;

Sqlite.prototype.prepare = function (sql) {
  const statement = prepare.call(this, sql);
  if (sql !== 'COMMIT') return statement;
  const { run } = statement;
  statement.run = () => {
    commits++;
    return run.call(statement);
  };
  return statement;
};

const send = process.send.bind(process);
process.send = (answer) => send({ ...answer, commits });
