/** Who received a message. Loaded on request. */
import { useEffect, useState } from 'preact/hooks';
import type { Answer } from '../../contract/types.ts';
import { call } from '../api/client.ts';
import { errorText } from '../api/errors.ts';
import { joinNames } from '../parts/who.tsx';
import { useTalk } from './context.ts';

type ReceiptList = Answer<'listReceipts'>;

function describeReceipts({ recipients, to_everyone, available }: ReceiptList, me: string): string {
  if (to_everyone) return 'To everyone; who read it is not kept';
  if (!available) return 'Not known: the message was imported';
  const namesIn = (...states: string[]): string =>
    joinNames(
      recipients
        .filter(({ state }) => states.includes(state))
        .map(({ member }) => (member.name === me ? 'you' : member.name)),
    );
  const pending = recipients.filter(({ state, held }) => state === 'pending' && !held);
  const held = recipients.filter((recipient) => recipient.held).map(({ member }) => member.name);
  const away = pending.filter(({ presence }) => presence === 'no_session').map(({ member }) => member.name);
  const awaited = pending.map(({ member }) => member.name).filter((name) => !away.includes(name));
  const parts = [
    ['read by', namesIn('read')],
    ['received by', namesIn('received')],
    ['waiting for', joinNames(awaited)],
    ['held, does not wake', joinNames(held)],
  ].flatMap(([verb, names]) => (names ? [`${verb} ${names}`] : []));
  if (away.length > 0)
    parts.push(`${joinNames(away)} ${away.length === 1 ? 'gets it when it is back' : 'get it when they are back'}`);
  return parts.length > 0 ? parts.join(' · ') : 'Nobody: no one it was for is on the board';
}

export function Receipts({ seq }: { seq: number }) {
  const { room } = useTalk();
  const [words, setWords] = useState<string | null>(null);
  useEffect(() => {
    call('listReceipts', { params: { board: room.name, seq } }).then(
      (receipts) => setWords(describeReceipts(receipts, room.me.peek())),
      (error) => setWords(errorText(error)),
    );
  }, [seq]);
  return (
    <span class="rc" role="status">
      {words}
    </span>
  );
}
