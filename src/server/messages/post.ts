/** Posting a message. */
import { Refusal } from '../../contract/errors.ts';
import { findMentions } from '../../contract/mentions.ts';
import { codePoints, MAX_BODY } from '../../contract/text.ts';
import type { Mention, Message, Role } from '../../contract/types.ts';
import { lockPlace, type Place } from '../access/board-access.ts';
import { findMessageById } from '../access/message.ts';
import { type Answering, addressAnswer, addressAsk, readAnswer } from '../asks/asking.steps.ts';
import { type Asking, readAsk, redactAsk } from '../asks/asks.rules.ts';
import { parseRoles } from '../boards/boards.store.ts';
import { requirePermission, requirePostingRights } from '../boards/policy.rules.ts';
import type { WriteTx } from '../db/tx.ts';
import { citesNew, filesToCite } from '../files/attach.steps.ts';
import { activeAgents, type MemberRow, memberById } from '../members/members.store.ts';
import { nameOfPerson } from '../members/memberships.store.ts';
import type { Caller } from '../operation/caller.ts';
import type { WriteCase } from '../operation/usecase.ts';
import { aboutOf } from '../tasks/about.steps.ts';
import { redact, sumCounts } from '../text/redaction.ts';
import { askContext, askViews } from '../views/ask.ts';
import { messageView } from '../views/message.ts';
import { type Addressing, activeByName, addressThread, addressTo, toEveryone } from './addressing.steps.ts';
import { isNoticed, NO_LIMIT, noRun, requireOpenToAgents, runNotice, withPost } from './agent-run.rules.ts';
import { resolveMentions } from './mentions.rules.ts';
import { type MessageRow, releaseHeld, rootOf } from './messages.store.ts';
import { type Post, type Written, writePost } from './posting.steps.ts';

export const postMessage: WriteCase<'postMessage', Post> = {
  /** Lengths count what was sent; secrets leave the text before anything else sees it. */
  prepare(body) {
    const text = body.body;
    const length = text.length > MAX_BODY ? codePoints(text) : text.length;
    if (length > MAX_BODY) {
      throw new Refusal('message_too_large', `The message has ${length} characters; ${MAX_BODY} fit.`, {
        hint: 'Cut it with --truncate tail, or put it onto the board as a file.',
        details: { limit: MAX_BODY, length },
      });
    }
    const found = redact(text);
    const asked = body.ask ? redactAsk(body.ask) : null;
    // What was sent is referred to, not copied: copying the rest of an object is many times as slow.
    return {
      sent: body,
      ask: asked?.ask,
      redacted: asked ? { text: found.text, counts: sumCounts([...found.counts, ...asked.counts]) } : found,
    };
  },

  shares: true,

  async run(tx, caller, { params, body }) {
    const { sent } = body;
    const place = await lockPlace(tx, caller, params.board);
    const roles = parseRoles(place.board);
    const role = place.member.kind === 'agent' ? roles[place.member.role ?? ''] : undefined;
    if (place.member.kind === 'agent') requirePermission(role, 'post');

    const parent = sent.reply_to === undefined ? null : await findMessageById(tx, place, sent.reply_to);
    const asking = body.ask ? readAsk(body.ask, sent, tx.now) : null;
    const answering = await readAnswer(tx, place.member, parent, sent.answer);
    const root = parent === null ? null : await rootOf(tx, parent);
    if (root && place.member.kind === 'agent') requireOpenToAgents(root);
    const addressing = await address(tx, place, roles, { to: sent.to, parent, asking, answering });
    if (place.member.kind === 'agent') {
      requirePostingRights(place.policy, role, { everyone: addressing.everyone, urgent: sent.urgent });
    }
    const about = await aboutOf(tx, {
      boardId: place.board.id,
      sender: place.member,
      given: sent.about,
      parentId: parent?.id,
      text: body.redacted.text,
    });
    const files = await filesToCite(tx, place.board.id, sent.files);
    const run = withPost(root ?? noRun, {
      byAgent: place.member.kind === 'agent',
      restarts: root !== null && (await citesNew(tx, files)),
      limits: place.policy.agent_run,
      now: tx.now,
    });
    // Where the count starts anew, what was held before it wakes those it is for, even if this post is for others.
    if (root?.run_held_at && run.run_held_at === null) await releaseHeld(tx, root, NO_LIMIT);
    const mentions = await mentionsIn(tx, place, roles, body.redacted.text, addressing);
    const parts = { parent, run, addressing, mentions, about, files, asking, answering };
    const written = await writePost(tx, caller, place, { post: body, ...parts });
    caller.shown.message = written.row.id;
    return { answer: await asSeenBySender(tx, caller, place, written, { parent, root }) };
  },
};

/** What decides to whom a post goes. */
interface Sending {
  to: string[] | undefined;
  parent: MessageRow | null;
  asking: Asking | null;
  answering: Answering | null;
}

function address(tx: WriteTx, place: Place, roles: Record<string, Role>, { to, parent, asking, answering }: Sending) {
  const from = { boardId: place.board.id, sender: place.member, readsAll: place.reader.readsAll, roles };
  if (asking) return addressAsk(tx, from, to, asking);
  if (answering && parent) return addressAnswer(tx, from, to, parent.root_seq ?? parent.seq, answering);
  if (to) return addressTo(tx, from, to);
  if (parent) return addressThread(tx, from, parent.root_seq ?? parent.seq);
  return Promise.resolve(toEveryone);
}

/** Mentions with the members they mean now and whether each is woken. */
async function mentionsIn(
  tx: WriteTx,
  place: Place,
  roles: Record<string, Role>,
  text: string,
  addressing: Addressing,
): Promise<Mention[]> {
  const found = findMentions(text);
  if (found.length === 0) return [];
  const names = found.flatMap((mention) => (mention.form === 'name' ? [mention.name] : []));
  const byName = await activeByName(tx, place.board.id, names);
  const byRole = new Map<string, MemberRow[]>();
  for (const mention of found) {
    if (mention.form === 'role' && Object.hasOwn(roles, mention.name) && !byRole.has(mention.name)) {
      byRole.set(mention.name, await activeAgents(tx, place.board.id, 'role', [mention.name]));
    }
  }
  const recipients = new Set(addressing.recipients?.map((member) => member.id));
  return resolveMentions(found, {
    senderId: place.member.id,
    members: (name) => byName.get(name),
    roleAgents: (role) => byRole.get(role),
    mayRead: (id) => place.policy.visibility === 'open' || addressing.everyone || recipients.has(id),
  });
}

/** The new message as its sender reads it, from what is at hand; only the two ends of a reply are looked up. */
async function asSeenBySender(
  tx: WriteTx,
  caller: Caller,
  place: Place,
  { row, data }: Written,
  { parent, root }: { parent: MessageRow | null; root: MessageRow | null },
): Promise<Message> {
  const { member } = place;
  const author = parent ? await memberById(tx, parent.sender_id) : null;
  if (author === undefined) throw new Error(`message ${parent?.id} has lost its author`);
  const context = {
    sender_name: member.name,
    sender_kind: member.kind,
    sender_role: member.role,
    sender_harness: member.harness,
    sender_person_id: member.person_id,
    sender_handle: caller.person.handle,
    parent_id: parent?.id ?? null,
    parent_from: author?.name ?? null,
    root_id: root?.id ?? null,
  };
  const shown = [{ row, data }];
  const extras = askViews(await askContext(tx, shown), tx.now, place, shown);
  return {
    ...messageView(row, context, data, place),
    ...extras.get(row.id),
    ...(member.kind === 'agent' && isNoticed(row, place.policy.agent_run)
      ? { notice: runNotice(row.agent_run, await nameOfPerson(tx, member)) }
      : {}),
  };
}
