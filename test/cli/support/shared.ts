/** A home with a running server and one board, for tests that only read or add to it. */
import { Home } from './home.ts';

interface Options {
  bare?: boolean;
  shared?: boolean;
  /** The server is a process of its own, for tests that stop it. */
  apart?: boolean;
}

/** Call inside `describe`: gives the home, which is closed at the end. */
export function homeWithBoard(name = 'demo', { apart, ...options }: Options = {}): () => Home {
  let home: Home;
  before(async () => {
    home = new Home(options);
    if (!options.bare && !apart) await home.serve();
    await home.json(['board', 'create', name]);
  });
  after(() => home.close());
  return () => home;
}
