/** What the server notes for its operator. */
import type { TestServer } from './server.ts';

export interface Noted {
  action: string;
  actor_person_id: string | null;
  actor_key_id: string | null;
  target_id: string | null;
  request_id: string | null;
  details: Record<string, unknown>;
}

/** What was noted about one person, key or other thing, oldest first; null: about the server. */
export async function notesAbout(server: TestServer, target: string | null): Promise<Noted[]> {
  const rows = await server.db.read((tx) =>
    tx.query<Noted & { details_json: string }>((db) =>
      db('server_audit').where({ target_id: target }).orderBy('id').select('*'),
    ),
  );
  return rows.map(({ details_json, ...row }) => ({ ...row, details: JSON.parse(details_json) }));
}
