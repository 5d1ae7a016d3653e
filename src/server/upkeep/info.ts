/** What the server tells everybody about itself, and how a server of one machine proves that it has its data folder. */
import { isChallenge, PROOF_HEADER, PROOF_LABEL, proofSalt } from '../../contract/local-proof.ts';
import type { ServerInfo } from '../../contract/types.ts';
import type { StoreKind } from '../blobs/store.ts';
import type { Database } from '../db/tx.ts';
import type { InfoCase } from '../operation/usecase.ts';
import { buildOf } from './version.ts';

export const getInfo: InfoCase<'getInfo'> = {
  run({ challenge }, { info, root, address }) {
    if (address.mode !== 'local' || !isChallenge(challenge)) return { answer: info };
    const proof = root.derive(PROOF_LABEL, proofSalt(challenge, address.baseUrl()));
    return { answer: info, headers: { [PROOF_HEADER]: proof.toString('base64url') } };
  },
};

export function infoOf(serverId: string, db: Database, files: StoreKind, mode: ServerInfo['mode']): ServerInfo {
  return {
    name: 'service',
    ...buildOf(),
    server_id: serverId,
    mode,
    features: [
      'asks',
      'board_stream',
      'brakes',
      'collect_wait',
      'delegation_list',
      'files',
      'invite_show',
      'lines',
      'onboarding',
      'pagination',
      'profile',
      'search',
      'tasks',
    ],
    storage: { db: db.dialect.name, files },
  };
}
