/** A server of this process, whose limits of attempts do not count here, and a home that is signed in to it as its admin. */
import { startTestServer, type TestServer } from '../../support/server.ts';
import { Home } from './home.ts';

export interface Hosted {
  server: TestServer;
  url: string;
  /** The admin's. */
  home: Home;
  close(): Promise<void>;
}

export async function hosted(): Promise<Hosted> {
  const server = await startTestServer('sqlite');
  const home = new Home();
  const { code, stderr } = await home.shell(`echo "$KEY" | service login ${server.url} --store file`, {
    env: { KEY: server.dana.token ?? '' },
  });
  if (code !== 0) throw new Error(stderr);
  return {
    server,
    url: server.url,
    home,
    async close() {
      await home.close();
      await server.stop();
    },
  };
}
