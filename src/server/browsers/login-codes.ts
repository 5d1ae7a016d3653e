/** Login codes: a person's way from a signed-in terminal to a page. */
import type { OpenCase, WriteCase } from '../operation/usecase.ts';
import { newSecret } from '../text/ids.ts';
import { timestamp } from '../text/time.ts';
import { callerView } from '../views/person.ts';
import { keyOfCode } from './sessions.steps.ts';
import { dropLoginCodes, insertLoginCode, liveLoginCodes } from './sessions.store.ts';

/** Milliseconds. */
const LASTS_MS = 60_000;
const MAX_CODES = 10;

export const createLoginCode: WriteCase<'createLoginCode'> = {
  async run(tx, { key, person }, { deps: { root } }) {
    await tx.serialise(`login codes of ${person.person_id}`);
    const live = await liveLoginCodes(tx, person.person_id);
    const old = live.slice(MAX_CODES - 1).map((row) => row.digest);
    if (old.length > 0) await dropLoginCodes(tx, old);
    const code = newSecret('login');
    const expires_at = tx.now + LASTS_MS;
    await insertLoginCode(tx, {
      digest: root.digest(code),
      person_id: person.person_id,
      key_id: key.key_id,
      created_at: tx.now,
      expires_at,
    });
    return { answer: { code, expires_at: timestamp(expires_at) } };
  },
};

export const previewLoginCode: OpenCase<'previewLoginCode'>['run'] = async (tx, _source, { body, deps: { root } }) => {
  const { row, key } = await keyOfCode(tx, root, body.code, false);
  const about = { id: key.key_id, name: key.key_name };
  return { answer: { person: callerView({ person: key }), key: about, expires_at: timestamp(row.expires_at) } };
};
