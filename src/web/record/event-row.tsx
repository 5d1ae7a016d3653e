/**
 * One event of the record, with the result of its check and, when open, all recorded fields.
 */
import type { BoardEvent } from '../../contract/types.ts';
import { Fact } from '../parts/command.tsx';
import { Icon } from '../parts/icon.tsx';
import { formatNumber } from '../parts/number.ts';
import { formatExact, formatTime, isSameDay } from '../parts/time.tsx';
import { copy } from '../parts/toast.tsx';
import { Glyph } from '../parts/who.tsx';
import { now } from '../state/clock.ts';
import type { EventNames } from '../state/event-words.ts';
import type { Room } from '../state/room.ts';
import { hrefOf } from '../state/route.ts';
import type { Checked } from './protocol.ts';
import { describeEvent } from './words.ts';

interface RowProps {
  event: BoardEvent;
  room: Room;
  names: EventNames;
  checked: Checked | null;
  open: boolean;
}

const shortDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

export function EventRow({ event, room, names, checked, open }: RowProps) {
  const { seq, at, actor, hash } = event;
  const words = describeEvent(event, room.name, names);
  const state = room.members.value.find(({ id }) => id === actor.member_id)?.state;
  const today = isSameDay(at, new Date(now.value).toISOString());
  const address = { screen: 'board', board: room.name, tab: 'record' } as const;
  const broken = checked?.problem?.seq === seq;
  return (
    <>
      <tr class={broken ? 'brk' : open ? 'opened' : undefined} data-seq={seq}>
        <td class="num">
          <a
            class="seq"
            href={hrefOf(open ? address : { ...address, event: seq })}
            aria-expanded={open}
            aria-label={`Event ${seq}`}
          >
            {formatNumber(seq)}
          </a>
        </td>
        <td class="nw q2">
          <time dateTime={at} title={formatExact(at)}>
            {today ? formatTime(at) : `${shortDay.format(Date.parse(at))} ${formatTime(at)}`}
          </time>
        </td>
        <td class="nw">
          <span class="row">
            {actor.kind !== 'system' && (
              <Glyph who={{ name: actor.name ?? '?', kind: actor.kind, owner: actor.owner, state }} size={20} />
            )}
            <span class={actor.kind === 'agent' ? 'mono' : undefined}>{actor.name ?? 'the server'}</span>
            {actor.kind === 'agent' && <span class="vh">, agent of {actor.owner}</span>}
          </span>
        </td>
        <td class="wh">
          {words.verb} {words.link && <a href={words.link.href}>{words.link.text}</a>} {words.rest}
        </td>
        <td class="mono q2 nw hx">
          {hash.slice(7, 11)} {hash.slice(11, 15)}
        </td>
        <CheckCell seq={seq} checked={checked} />
      </tr>
      {open && (
        <tr class="detail">
          <td colSpan={6}>
            <Detail event={event} />
          </td>
        </tr>
      )}
    </>
  );
}

function CheckCell({ seq, checked }: { seq: number; checked: Checked | null }) {
  if (!checked || (!checked.problem && seq > checked.events))
    return (
      <td class="okc">
        <span class="vh">not checked yet</span>
      </td>
    );
  const bad = checked.problem?.seq;
  if (bad === undefined || seq < bad)
    return (
      <td class="okc">
        <Icon name="check" small />
        <span class="vh">verified</span>
      </td>
    );
  return (
    <td class="okc">
      {seq === bad ? (
        <Icon name="x" small />
      ) : (
        <span class="q2" aria-hidden="true">
          ?
        </span>
      )}
      <span class="vh">{seq === bad ? 'broken' : 'after the break'}</span>
    </td>
  );
}

function Detail({ event }: { event: BoardEvent }) {
  const { id, type, at, actor, data, data_withheld, data_hash, prev_hash, hash } = event;
  const facts: [string, string][] = [
    ['Type', type],
    ['At', at],
    ['Actor', JSON.stringify(actor)],
    ['Id', id],
    ['Hash', hash],
    ['Hash before', prev_hash],
    ['Hash of the data', data_hash],
  ];
  return (
    <>
      <dl class="frozen">
        {facts.map(([name, value]) => (
          <Fact key={name} name={name} class="mono">
            {value}
          </Fact>
        ))}
        <Fact name="Data">
          {data ? (
            <pre class="mono">{JSON.stringify(data, null, 2)}</pre>
          ) : data_withheld ? (
            'withheld: you may not read it'
          ) : (
            'missing'
          )}
        </Fact>
      </dl>
      <div class="row w">
        <button type="button" class="b" onClick={() => void copy(location.href, 'the address of this event')}>
          <Icon name="link" />
          Copy its address
        </button>
        <button type="button" class="b" onClick={() => void copy(JSON.stringify(event, null, 2), 'the event')}>
          <Icon name="copy" />
          Copy as JSON
        </button>
      </div>
    </>
  );
}
