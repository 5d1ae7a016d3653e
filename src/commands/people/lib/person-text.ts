/** Formats the people of a server. */
import { fields } from '../../../cli/terminal/fields.ts';
import { table } from '../../../cli/terminal/table.ts';
import { escapeUntrusted } from '../../../contract/text.ts';
import type { Answer, Person } from '../../../contract/types.ts';

/** One row per person. */
export const serverPeopleRows = (people: Person[]): Promise<string[]> =>
  table(
    ['HANDLE', 'ROLE', 'CALLED'],
    people.map((p) => [p.handle, p.server_role, escapeUntrusted(p.display_name ?? '')]),
  );

/** What everybody may know of one person. */
export const personText = ({ id, handle, display_name }: Pick<Person, 'id' | 'handle' | 'display_name'>): string =>
  fields([
    ['handle', handle],
    ['name', display_name],
    ['id', id],
  ]).join('\n');

/** A person about themselves. */
export const profileText = (me: Answer<'getMe'>, url: string): string =>
  fields([
    ['handle', me.name],
    ['name', me.display_name],
    ['role', me.server_role],
    ['server', url],
    ['id', me.id],
  ]).join('\n');
