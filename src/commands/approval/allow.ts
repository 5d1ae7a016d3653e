import { booleanFlag, confirmFlags, required, WriteCommand } from '../../cli/base.ts';
import { lost } from '../../cli/errors.ts';
import { stayingAt } from '../../cli/session/open-session.ts';
import { requestedApproval } from '../../cli/shapes.ts';
import { warnOfLoopback } from '../invite/lib/invite.ts';
import { allowedText, allowQuestion } from './lib/approval-text.ts';

export const json = () => requestedApproval;

export default class ApprovalAllow extends WriteCommand<typeof ApprovalAllow> {
  static override aliases = ['approvals allow'];
  static override summary = 'Allow what an agent asked for';
  static override description =
    'Shows exactly what is done and asks; then it is done at once. With --always your agents may invite people, or add\nthem, without asking from then on; it goes with no other kind of request. An invite is shown this one time only.';
  static override examples = [
    'service approval allow apr_01K5A0000000000000000000A1',
    'service approval allow apr_01K5A0000000000000000000A1 --always --yes',
  ];
  static override seeAlso = ['approval list', 'approval decline', 'allowance show'];
  static override args = { approval: required('Id of the request') };
  static override flags = { always: booleanFlag('Allow the like without asking from now on'), ...confirmFlags };

  override async run(): Promise<void> {
    const session = await this.session('P');
    const { client } = session;
    const params = { approval: this.args.approval };
    const always = this.flags.always === true;
    const { approval } = (await client.call('getApproval', { params })).data;
    if (!this.flags.yes) {
      const keyInUse =
        approval.action.kind === 'revoke_key' ? (await client.call('listKeys')).data.current_key_id : undefined;
      await this.confirm(allowQuestion(approval, { always, keyInUse }), approval.state !== 'pending');
    }
    const idempotencyKey = this.key;
    const show = `service approval show ${params.approval}${stayingAt(session)}`;
    const { data } = await client
      .call('allowApproval', { params, body: { always }, idempotencyKey })
      .catch(lost(`See whether it was done: ${show}; allowing it again does nothing twice`));
    warnOfLoopback(this.out, data.invite?.invite);
    const text = () => allowedText(data, approval.state === 'executed', session.server.url);
    this.print<typeof json>(data, text, data.invite?.invite);
  }
}
