import { z } from 'zod';
import { booleanFlag, confirmFlags, requestFlags, required, stringFlag } from '../../cli/flags.ts';
import { stayingAt } from '../../cli/session/open-session.ts';
import { answer, flag, object, requestedApproval } from '../../cli/shapes.ts';
import { plural } from '../../cli/terminal/fields.ts';
import type { AccessKey } from '../../contract/types.ts';
import { AskingCommand, keyIdOf } from '../approval/lib/ask-person.ts';
import { handleOf } from '../people/lib/people.ts';
import { endedByFirst, endSeats, findKey, forgetKeyIn, onlyKey, readKeys, requireForgettable } from './lib/keys.ts';

export const json = () =>
  z.union([
    object({ person: answer('listKeys').shape.person, key: answer('revokeKey'), this_machine: flag }),
    requestedApproval,
  ]);

export default class KeyRevoke extends AskingCommand<typeof KeyRevoke> {
  static override summary = 'Revoke an access key';
  static override description =
    'Ends at once what works because of it: browser sessions, agents it added, delegations. Invites made with it stay,\nunless --revoke-invites. An admin may revoke the keys of others.';
  static override examples = [
    'service key revoke ci',
    'service key revoke laptop --person maya --revoke-invites',
    'service key revoke key_01K5A0000000000000000000K1 --request --as claude',
  ];
  static override seeAlso = ['key list', 'key create'];
  static override args = { key: required('Name or id of the key') };
  static override flags = {
    person: stringFlag('HANDLE', "Somebody else's key, as an admin"),
    'revoke-invites': booleanFlag('Also the unused invites made with it'),
    ...requestFlags,
    ...confirmFlags,
  };

  override async run(): Promise<void> {
    if (this.flags.request) {
      const wanted = { kind: 'revoke_key' as const, key_id: keyIdOf(this.args.key) };
      return this.request(await this.session('G'), wanted);
    }
    const session = await this.session('P');
    const { client, server } = session;
    const { person: named, yes, 'revoke-invites': invites, 'idempotency-key': idempotencyKey } = this.flags;
    const list = await readKeys(client, named === undefined ? undefined : await handleOf(client, named));
    const before = findKey(
      list,
      this.args.key,
      `${named === undefined ? '' : ` --person ${list.person.handle}`}${stayingAt(session)}`,
    );
    const own = before.id === list.current_key_id;
    const stops = hangsOn(before);
    if (own) {
      await requireForgettable(session);
      const question = `Revoke the key in use here, on ${server.url}?${stops ? ` With it stop ${stops}.` : ''}`;
      await this.confirm(question + onlyKey(list, server), yes);
    }
    const query = { ...(invites ? { revoke_invites: true } : {}) };
    const reply = await client
      .call('revokeKey', { params: { key: before.id }, query, idempotencyKey })
      .catch((error: unknown) => {
        if (!own || !endedByFirst(error)) throw error;
        return { data: { ...before, state: 'revoked' as const, warning: undefined }, replayed: false };
      });
    const again = this.again(reply);
    const { warning, ...key } = reply.data;
    if (own) await forgetKeyIn(session);
    else if (session.entry?.key) await endSeats(server, before.id);
    if (warning) this.out.warn('no_admin_key', warning, '');
    const whose = named === undefined ? '' : ` of ${list.person.handle}`;
    this.print<typeof json>({ person: list.person, key: reply.data, this_machine: own }, () =>
      before.state === 'revoked' && !reply.replayed
        ? `Key ${key.name}${whose} was revoked before.`
        : `Revoked key ${key.name}${whose} on ${server.url}${stops ? `: ${stops} stopped` : ''}.${again}`,
    );
  }
}

/** What works because of a key, and stops with it; empty where nothing does. */
function hangsOn({ browser_sessions: browsers, agent_seats: agents }: AccessKey): string {
  const counted = [
    browsers > 0 ? plural(browsers, 'browser session', 'browser sessions') : '',
    agents > 0 ? plural(agents, 'agent', 'agents') : '',
  ];
  return counted.filter(Boolean).join(' and ');
}
