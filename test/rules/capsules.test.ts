/** The sealing of an invite's secret, against the vectors of the contract. */
import { expect } from 'chai';
import { canonicalAction } from '../../src/server/approvals/actions.rules.ts';
import {
  COLLECT_LABEL,
  collectKeyHash,
  OUTCOME_LABEL,
  seal,
  unseal,
} from '../../src/server/approvals/capsules.rules.ts';
import { RootKey } from '../../src/server/text/root-key.ts';

const at = (end: string) => `01JB8Z2Y5X4W3V2T1S0R9Q8P${end}`;
const serverId = `srv_${at('7A')}`;
const root = new RootKey(Buffer.from(Array.from({ length: 32 }, (_unused, n) => n)));
const action = canonicalAction({
  kind: 'invite_people',
  invite: {
    ttl_seconds: 86_400,
    boards: [`brd_${at('7N')}`],
    pairing: { work: 'Review the café API — today', initiating_agent_id: `mem_${at('7K')}` },
    suggested_handle: 'maya',
  },
});
const binding = {
  server_id: serverId,
  approval_id: `apr_${at('7B')}`,
  invite_id: `inv_${at('7C')}`,
  person_id: `hum_${at('7M')}`,
  agent_id: `mem_${at('7K')}`,
  parent_key_id: `key_${at('7D')}`,
  payload_hash: action.hash,
};
const secret = 'abi_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';

describe('an action', () => {
  it('has the canonical text and hash of the contract', () => {
    const add = canonicalAction({ kind: 'add_people', person_id: `hum_${at('7M')}`, board_id: `brd_${at('7N')}` });
    expect(add.text).to.equal(`{"board_id":"brd_${at('7N')}","kind":"add_people","person_id":"hum_${at('7M')}"}`);
    expect(add.hash).to.equal('sha256:84bc1a208133dec069f3a631bc3bdce7056f132c3aed561e05c808536dfa30cc');
    expect(canonicalAction({ kind: 'invite_people', invite: { ttl_seconds: 86_400, boards: [] } }).hash).to.equal(
      'sha256:eba358c93a3ad8cf4e6e579a43fd882a09ca7cc2035d0df880d80be03e0cbbda',
    );
    expect(action.hash).to.equal('sha256:2385a907b04fe04600e6ff93cd18711c8bdb2ecfa18adbc3c4d2229526ee5565');
  });
});

describe('a capsule', () => {
  const key = root.derive(OUTCOME_LABEL, serverId);
  const sealed = seal(key, binding, secret, Buffer.from('000102030405060708090a0b', 'hex'));

  it('is sealed as the contract says', () => {
    expect(key.toString('hex')).to.equal('c6df01c2c6a0264a9b5641b67dd62c5682fa5adadf5ad1579f4a2e7f3c621e5a');
    expect(sealed.ciphertext.toString('hex')).to.equal(
      '30b11513df58f9ef3b78912072addb4ae0ced50667e9cfb8e03f3e1b67b03e4ee9720289d94e1607df48c4fd19485c',
    );
    expect(sealed.tag.toString('hex')).to.equal('28cd7e98088fe27dcf92ba867ac89233');
    const collect = root.derive(COLLECT_LABEL, serverId);
    expect(collectKeyHash(collect, binding, 'retry-1').toString('hex')).to.equal(
      'cc09bb53352314f2d499066a2c6c800109926561157f216dcec08349fd919ce1',
    );
  });

  it('opens for its own approval and server key only', () => {
    expect(unseal(key, binding, sealed)).to.equal(secret);
    for (const name of Object.keys(binding) as (keyof typeof binding)[]) {
      expect(unseal(key, { ...binding, [name]: 'other' }, sealed), name).to.equal(null);
    }
    expect(unseal(root.derive(COLLECT_LABEL, serverId), binding, sealed)).to.equal(null);
    const tag = Buffer.from(sealed.tag);
    tag[0] = (tag[0] ?? 0) ^ 1;
    expect(unseal(key, binding, { ...sealed, tag })).to.equal(null);
    expect(unseal(key, binding, { ...sealed, tag: sealed.tag.subarray(0, 4) })).to.equal(null);
  });
});
