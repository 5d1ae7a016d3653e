/** What `dist/server.cjs` exports: the server, and the tools that work on its data without one. */
export { openapi } from '../contract/openapi/openapi.ts';
export { checkStorage, copyStorage } from './blobs/check.ts';
export { storageFaults } from './blobs/open.ts';
export { startServer } from './serve.ts';
export { lockFolder } from './upkeep/data-folder.ts';
export { schemaOf } from './upkeep/examine.ts';
export { migrateStorage } from './upkeep/migrating.ts';
export { recoverKey } from './upkeep/recover.ts';
export { withoutPassword } from './upkeep/storage.ts';
