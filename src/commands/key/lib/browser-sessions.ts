/** The browser sessions of the person. */
import type { Client } from '../../../client/client.ts';
import { pages } from '../../../client/pages.ts';
import type { BrowserSession, Person } from '../../../contract/types.ts';

/** All of them, or those of one key, by its name or id. A key without a session need not be there: guests cannot ask for theirs. */
export async function browserSessions(
  client: Client,
  key: string | undefined,
): Promise<{ person: Person | undefined; sessions: BrowserSession[] }> {
  const sessions: BrowserSession[] = [];
  let person: Person | undefined;
  const id = key?.startsWith('key_') ? key : undefined;
  for await (const page of pages(client, 'listBrowserSessions', { query: { key: id, limit: 500 } })) {
    person = page.person;
    sessions.push(...page.sessions);
  }
  const fits = ({ key: { name } }: BrowserSession) => key === undefined || id !== undefined || name === key;
  return { person, sessions: sessions.filter(fits) };
}
