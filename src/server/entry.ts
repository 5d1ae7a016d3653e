/** What `dist/server.cjs` brings: the server, and the key for an admin who lost theirs, which is made without one. */
export { startServer } from './serve.ts';
export { recoverKey } from './upkeep/recover.ts';
