/** Lists the people of the server. */
import type { ReadTx } from '../db/tx.ts';
import type { ReadCase } from '../operation/usecase.ts';
import { cutPage, pageFrom, readPageToken } from '../text/page-token.ts';
import { personView } from '../views/person.ts';
import { personNotFound } from './people.rules.ts';
import { listPersonRows, personByHandle } from './people.store.ts';

const PAGE = 200;

export const listPeople: ReadCase<'listPeople'>['run'] = async (tx, _caller, { query }) => {
  if (query.handle !== undefined) return showPerson(tx, query.handle);
  const { limit = PAGE } = query;
  const position = readPageToken(query.after);
  const { page, next_after } = cutPage(
    await listPersonRows(tx, (rows) => pageFrom(rows, 'people', position, limit)),
    limit,
  );
  return { people: page.map(personView), next_after };
};

/** Exactly this current handle; a guest looks like nobody. */
async function showPerson(tx: ReadTx, handle: string) {
  const person = await personByHandle(tx, handle);
  if (!person || person.server_role === 'guest') throw personNotFound();
  return { id: person.id, handle: person.handle, display_name: person.display_name };
}
