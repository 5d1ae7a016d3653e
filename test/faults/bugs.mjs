// Makes a server wrong on purpose, to show that a test would notice: `node --import=…/bugs.mjs?name …` changes one place of
// one source file as it is loaded. A place that is no longer there ends the server, so that no bug is left out unseen.
import { registerHooks } from 'node:module';

export const bugs = {
  // Works with the caller of an earlier request, whose credential may have ended since.
  stale_credential: {
    file: 'operation/run-write.ts',
    find: /const caller = await authenticate\(tx, credential\);\s+seen =/,
    put: `const callers = (globalThis.callers ??= new Map());
      const caller = await authenticate(tx, credential).catch((error) => {
        const before = callers.get(credential.token);
        if (!before) throw error;
        before.shown = {};
        return before;
      });
      callers.set(credential.token, caller);
      seen =`,
  },
  // Does again what was done under a key.
  double_effect: {
    file: 'operation/run-write.ts',
    find: 'if (kept) await keep(kept, tx, caller, reply);',
    put: '',
  },
  // Tells nobody of a commit: on Postgres no other process, and does not look either; on SQLite nobody at all.
  no_notify_postgres: {
    file: 'db/postgres-wake.ts',
    find: /const POLL_MS = 1_000|await client\.query\(\{ name: 'notify'/g,
    // A connection is still asked whether it is there, and is kept.
    put: (it) => (it.startsWith('const') ? 'const POLL_MS = 60_000' : `if (payload.endsWith('[]}')) ${it}`),
  },
  no_notify_sqlite: { file: 'db/sqlite-writer.ts', find: 'notify([...keys]);', put: 'notify([]);' },
  // Takes the word of whoever acknowledges, also where it goes back.
  cursor_back: {
    file: 'inbox/inbox.ts',
    find: 'if (upTo <= member.read_up_to) return member.read_up_to;',
    put: '',
  },
  // Gives a task to whoever asks.
  two_winners: {
    file: 'tasks/take.ts',
    find: 'if (task.owner_id === null || task.owner_id === place.member.id) {',
    put: 'if (task.owner_id !== place.member.id) {\n      task.owner_id = null;',
  },
  // Answers now and then before anything is committed, and then does not.
  lost_write: {
    file: 'db/sqlite-writer.ts',
    find: "connection.exec('COMMIT');",
    put: "connection.exec(Math.random() < 0.1 ? 'ROLLBACK' : 'COMMIT');",
  },
  // Leaves it to the operating system when a commit reaches the disk.
  no_sync: {
    file: 'db/sqlite.ts',
    find: /synchronous = FULL|level !== 2/g,
    put: (it) => (it[0] === 's' ? 'synchronous = OFF' : 'false'),
  },
};

const name = new URL(import.meta.url).search.slice(1);
if (name !== '') {
  const { file, find, put } = bugs[name];
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.endsWith(`/src/server/${file}`)) return loaded;
      const before = String(loaded.source);
      const source = before.replace(find, put);
      if (source === before) throw new Error(`the place of the bug is not in ${file}`);
      return { ...loaded, source };
    },
  });
}
