/** A home with a running server and one board, for tests that only read or add to it. */
import { Home } from './home.ts';

/** Call inside `describe`: gives the home, which is closed at the end. */
export function homeWithBoard(name = 'demo', options: { bare?: boolean; shared?: boolean } = {}): () => Home {
  let home: Home;
  before(async function () {
    this.timeout(60_000);
    home = new Home(options);
    await home.json(['board', 'create', name]);
  });
  after(() => home.close());
  return () => home;
}
