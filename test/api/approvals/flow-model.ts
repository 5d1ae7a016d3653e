/** The way of an invite from an agent's request to a newcomer, in a few lines of memory: what each step must be answered. */

const MINUTE = 60_000;
const DAY = 86_400_000;

export type Step = 'ask' | 'allow' | 'decline' | 'collect' | 'collect_other' | 'redeem' | 'revoke';
export type Trouble =
  | 'demote'
  | 'promote'
  | 'remove_person'
  | 'revoke_key'
  | 'archive_bundled'
  | 'restore_bundled'
  | 'delete_bundled'
  | 'archive_own'
  | 'restore_own'
  | 'delete_own'
  | 'leave_bundled'
  | 'return_bundled'
  | 'leave_own'
  | 'seat_leaves'
  | 'ten_minutes'
  | 'a_day';

export const steps: Step[] = ['ask', 'allow', 'collect', 'collect', 'redeem'];
export const troubles: Trouble[] = [
  'demote',
  'promote',
  'remove_person',
  'revoke_key',
  'archive_bundled',
  'restore_bundled',
  'delete_bundled',
  'archive_own',
  'restore_own',
  'delete_own',
  'leave_bundled',
  'return_bundled',
  'leave_own',
  'seat_leaves',
  'ten_minutes',
  'a_day',
];

type Lifecycle = 'active' | 'archived' | 'deleted';
type ApprovalState = 'pending' | 'executed' | 'declined' | 'expired';

export class FlowModel {
  admin = true;
  removed = false;
  keyWorks = true;
  seated = true;
  onBundled = true;
  bundled: Lifecycle = 'active';
  own: Lifecycle = 'active';
  approval: { state: ApprovalState; reason: string | null; expires: number } | null = null;
  capsule: { state: 'held' | 'collected' | 'cleared'; expires: number; until: number | null } | null = null;
  invite: { state: 'active' | 'redeemed' | 'revoked' | 'expired'; expires: number } | null = null;

  /** What a step is answered with: `200`, `201 secret`, `409 approval_closed`; null: there is nothing to do it with. */
  step(step: Step, now: number): string | null {
    this.pass(now);
    switch (step) {
      case 'ask':
        return this.#ask(now);
      case 'allow':
        return this.#decide(() => this.#allow(now));
      case 'decline':
        return this.#decide(() => this.#decline());
      case 'collect':
      case 'collect_other':
        return this.#collect(step === 'collect', now);
      case 'redeem':
        return this.#redeem();
      case 'revoke':
        return this.#revoke();
    }
  }

  /** Something happens to whoever the flow rests on. */
  trouble(trouble: Trouble, now: number): void {
    this.pass(now);
    switch (trouble) {
      case 'demote':
        if (this.removed || !this.admin) return;
        this.admin = false;
        this.#clear();
        return;
      case 'promote':
        this.admin = !this.removed || this.admin;
        return;
      case 'remove_person':
        if (this.removed) return;
        Object.assign(this, { removed: true, keyWorks: false, seated: false, onBundled: false });
        this.#end('person_ended');
        // Nobody comes in any more by somebody who is gone.
        if (this.invite?.state === 'active') this.invite.state = 'revoked';
        this.#clear();
        return;
      case 'revoke_key':
        if (!this.keyWorks) return;
        this.keyWorks = false;
        this.#end('key_ended');
        this.#clear();
        return;
      case 'archive_bundled':
      case 'archive_own':
        this.#move(trouble === 'archive_own', 'active', 'archived');
        return;
      case 'restore_bundled':
      case 'restore_own':
        this.#move(trouble === 'restore_own', 'archived', 'active');
        return;
      case 'delete_bundled':
        this.bundled = 'deleted';
        this.#clear();
        return;
      case 'delete_own':
        this.own = 'deleted';
        this.#end('requester_ended');
        this.#clear();
        return;
      case 'leave_bundled':
        if (!this.onBundled) return;
        this.onBundled = false;
        this.#clear();
        return;
      case 'return_bundled':
        if (!this.removed && this.bundled === 'active') this.onBundled = true;
        return;
      case 'leave_own':
      case 'seat_leaves':
        if (this.own === 'deleted') return;
        this.seated = false;
        this.#end('requester_ended');
        this.#clear();
        return;
      default:
        return;
    }
  }

  /** What time alone does. */
  pass(now: number): void {
    if (this.approval?.state === 'pending' && this.approval.expires <= now)
      Object.assign(this.approval, { state: 'expired', reason: 'timeout' });
    if (this.invite?.state === 'active' && this.invite.expires <= now) this.invite.state = 'expired';
    const { capsule } = this;
    if (capsule && (capsule.expires <= now || (capsule.until !== null && capsule.until <= now))) this.#clear();
  }

  /** What the agent's token is refused with. */
  get #dead(): string | null {
    if (this.own === 'deleted') return '404 board_not_found';
    if (!this.seated) return '403 agent_removed';
    return this.keyWorks ? null : '401 unauthorized';
  }

  get #seesBundled(): boolean {
    return this.onBundled && this.bundled !== 'deleted';
  }

  /** What the person's own operation would be refused with. */
  get #refusal(): string | null {
    if (!this.admin) return '403 server_admin_required';
    if (!this.#seesBundled) return '404 board_not_found';
    return this.bundled === 'archived' ? '409 board_archived' : null;
  }

  #ask(now: number): string {
    const refusal = this.#dead ?? (this.own === 'archived' ? '409 board_archived' : this.#refusal);
    if (refusal) return refusal;
    this.approval = { state: 'pending', reason: null, expires: now + DAY };
    this.capsule = null;
    this.invite = null;
    return '202';
  }

  #decide(how: () => string): string | null {
    if (!this.approval) return null;
    if (this.removed) return '401 unauthorized';
    return this.#seesBundled ? how() : '404 approval_not_found';
  }

  #allow(now: number): string {
    const { approval } = this;
    if (!approval || approval.state === 'declined' || approval.state === 'expired') return '409 approval_closed';
    const refusal = this.#refusal;
    if (refusal) return refusal;
    if (approval.state === 'executed') return '200';
    approval.state = 'executed';
    this.invite = { state: 'active', expires: now + DAY };
    this.capsule = { state: 'held', expires: now + DAY, until: null };
    return '201 secret';
  }

  #decline(): string {
    if (this.approval?.state === 'executed' || this.approval?.state === 'expired') return '409 approval_closed';
    if (this.approval) this.approval.state = 'declined';
    return '200';
  }

  #collect(winner: boolean, now: number): string | null {
    if (!this.approval) return null;
    if (this.#dead) return this.#dead;
    const { capsule } = this;
    if (!capsule) return this.#seesBundled ? '200' : '404 approval_not_found';
    if (!this.admin || !this.#seesBundled) {
      this.#clear();
      return this.admin ? '404 approval_not_found' : '403 server_admin_required';
    }
    if (this.bundled === 'archived' || this.own === 'archived') return '409 board_archived';
    if (capsule.state === 'cleared') return '200';
    if (capsule.state === 'collected') return winner ? '200 secret' : '200';
    if (!winner) return null;
    Object.assign(capsule, { state: 'collected', until: Math.min(now + 10 * MINUTE, capsule.expires) });
    return '200 secret';
  }

  #redeem(): string | null {
    if (!this.invite) return null;
    const stands = this.admin && !this.#dead && this.#seesBundled && this.bundled === 'active';
    if (this.invite.state !== 'active' || !stands) return '404 invite_invalid';
    this.invite.state = 'redeemed';
    this.#clear();
    return '201';
  }

  #revoke(): string | null {
    if (!this.invite) return null;
    if (this.removed) return '401 unauthorized';
    if (this.invite.state !== 'redeemed') {
      this.invite.state = 'revoked';
      this.#clear();
    }
    return '200';
  }

  #end(reason: string): void {
    if (this.approval?.state === 'pending') Object.assign(this.approval, { state: 'expired', reason });
  }

  #clear(): void {
    if (this.capsule) this.capsule = { ...this.capsule, state: 'cleared', until: null };
  }

  #move(own: boolean, from: Lifecycle, to: Lifecycle): void {
    if (own && this.own === from) this.own = to;
    if (!own && this.bundled === from) this.bundled = to;
  }
}
