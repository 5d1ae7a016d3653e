/** The server behind the page. */
import { startTestServer, type TestServer } from '../../support/server.ts';

/**
 * Starts a server on SQLite. The page knows nothing of a server but its API, and test/api proves that on both databases; so
 * only what comes live, and one story from end to end, are seen on both here.
 */
export const startPageServer = (): Promise<TestServer> => startTestServer('sqlite');
