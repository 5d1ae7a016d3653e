import { expect } from 'chai';
import { type Answer, type Call, type Entry, type History, type Wish, wrongsIn } from '../faults/history.ts';

const entry = (seq: number, type: string, by: string, subject: string, to?: string[] | null): Entry => ({
  seq,
  type,
  by,
  subject,
  ...(to === undefined ? {} : { to }),
});
const posted = (seq: number, by: string, subject: string, to: string[] | null = null): Entry =>
  entry(seq, 'message.posted', by, subject, to);
const call = (
  by: string,
  wish: Wish,
  [start, end]: [number, number],
  more: Partial<Call>,
  answer: Partial<Answer> | null = {},
): Call => ({
  by,
  wish,
  start,
  end,
  ...more,
  answer: answer && { status: 200, bytes: '', ...answer },
});
const post = (by: string, subject: string, time: [number, number], seq: number): Call =>
  call(by, 'post', time, { subject, key: subject }, { status: 201, bytes: `${seq}`, seq });

/** A run in which everything is right: dana writes, ann and bob answer, read and acknowledge, bob is removed. */
function right(): History {
  return {
    people: ['dana'],
    record: [
      entry(1, 'board.created', 'dana', ''),
      entry(2, 'member.joined', 'dana', 'ann'),
      entry(3, 'member.joined', 'dana', 'bob'),
      posted(4, 'dana', 'one'),
      posted(5, 'ann', 'two', ['bob']),
      entry(6, 'task.created', 'dana', 'task'),
      entry(7, 'task.started', 'ann', 'task'),
      posted(8, 'dana', 'three', ['ann']),
      entry(9, 'agent.removed', 'dana', 'bob'),
    ],
    calls: [
      post('dana', 'one', [0, 10], 4),
      post('ann', 'two', [20, 30], 5),
      post('ann', 'two', [25, 60], 5),
      call('bob', 'inbox', [40, 45], {}, { seqs: [4, 5], cursor: 3 }),
      call('bob', 'acknowledge', [46, 50], { seq: 5 }, { cursor: 5 }),
      call('dana', 'open', [51, 55], { subject: 'task', key: 'open' }, { status: 201 }),
      call('ann', 'take', [56, 70], { subject: 'task', key: 'take ann' }),
      call('bob', 'take', [57, 70], { subject: 'task', key: 'take bob' }, { status: 409, code: 'task_taken' }),
      call('ann', 'acknowledge', [71, 72], { seq: 4 }, { cursor: 4 }),
      call('ann', 'inbox', [73, 110], { wait: 1_000 }, { seqs: [8], cursor: 4 }),
      post('dana', 'three', [90, 100], 8),
      call('dana', 'timeline', [120, 130], { seq: 0 }, { seqs: [4, 5, 8] }),
      call('dana', 'remove', [131, 140], { subject: 'bob', key: 'remove' }),
      call('bob', 'post', [150, 160], { subject: 'four', key: 'four' }, { status: 403, code: 'agent_removed' }),
      call('ann', 'record', [170, 180], { seq: 6 }, { seqs: [7, 8, 9] }),
    ],
  };
}

/** What is changed of a right history, and what is said of it then. */
const changes: [string, RegExp, (history: History) => void][] = [
  ['a number is missing', /not dense/, ({ record }) => record.splice(0, 1)],
  ['something acknowledged is gone', /acknowledged and gone: ann: post two/, ({ record }) => drop(record, 'two')],
  ['a key had two effects', /done 2 times: dana: post one/, ({ record }) => record.push(posted(10, 'dana', 'one'))],
  ['a message stands elsewhere', /stands elsewhere/, ({ calls }) => ((calls[0] as Call).answer = told(9))],
  ['something refused was done', /refused and done/, ({ record }) => record.push(posted(10, 'bob', 'four'))],
  ['nobody asked for it', /nobody asked for entry 10/, ({ record }) => record.push(posted(10, 'ann', 'five'))],
  [
    'a repeat is answered differently',
    /answered differently/,
    ({ calls }) => ((calls[2] as Call).answer = { ...told(5), bytes: 'x' }),
  ],
  ['what was answered first comes later', /out of order/, (history) => swap(history)],
  ['a read misses what its reader wrote', /does not show 5/, ({ calls }) => seqsOf(calls, 11, [4, 8])],
  ['a read misses the end', /does not show 8/, ({ calls }) => seqsOf(calls, 11, [4, 5])],
  ['a read goes back behind another', /does not show 9/, ({ calls }) => seqsOf(calls, 14, [7, 8])],
  ['a read shows what is not there', /shows what is not there/, ({ calls }) => seqsOf(calls, 3, [3, 4, 5])],
  ['a read shows what comes later', /asked for later/, ({ calls }) => seqsOf(calls, 3, [4, 5, 8])],
  ['an inbox misses a message', /does not show 5: bob: inbox/, ({ calls }) => seqsOf(calls, 3, [4])],
  ['a read position goes back', /went back to 3/, ({ calls }) => (answerOf(calls, 9).cursor = 3)],
  ['a read position stays', /stayed at 3/, ({ calls }) => (answerOf(calls, 4).cursor = 3)],
  ['a read position runs ahead', /at 7, which nobody said/, ({ calls }) => (answerOf(calls, 9).cursor = 7)],
  [
    'a task has two owners',
    /task was taken by ann and by bob/,
    ({ record }) => record.push(entry(10, 'task.started', 'bob', 'task')),
  ],
  ['a task is taken by nobody', /taken by nobody/, ({ record }) => drop(record, 'task')],
  ['who was removed writes', /after its removal bob did/, ({ record }) => record.push(posted(10, 'bob', 'four'))],
  [
    'who was removed is answered',
    /after its removal bob was answered/,
    ({ calls }) => (answerOf(calls, 13).status = 201),
  ],
  ['a wait is woken late', /woken 4900 ms late/, ({ calls }) => ((calls[9] as Call).end = 5_000)],
  ['waits are woken late', /half of the waits are 800 ms late/, (history) => oversleep(history)],
];

describe('the judge of random runs', () => {
  it('finds nothing in a history that is right', () => {
    expect(wrongsIn(right())).to.deep.equal([]);
  });

  for (const [what, said, change] of changes)
    it(`notices that ${what}`, () => {
      const history = right();
      change(history);
      expect(wrongsIn(history).join('\n')).to.match(said);
    });

  it('does not hold an answer that was lost against anybody', () => {
    const history = right();
    history.record.push(posted(10, 'bob', 'five'));
    history.calls.push(call('bob', 'post', [135, 180], { subject: 'five', key: 'five', lost: true }, { status: 403 }));
    expect(wrongsIn(history).filter((wrong) => !wrong.includes('after its removal'))).to.deep.equal([]);
  });
});

const told = (seq: number): Answer => ({ status: 201, bytes: `${seq}`, seq });
const answerOf = (calls: Call[], n: number): Answer => calls[n]?.answer as Answer;

function seqsOf(calls: Call[], n: number, seqs: number[]): void {
  answerOf(calls, n).seqs = seqs;
}

/** Takes out what has this subject, and numbers the rest anew where that changes nothing else. */
function drop(record: Entry[], subject: string): void {
  for (const one of record) if (one.subject === subject) Object.assign(one, { type: 'other', subject: '' });
}

/** The first two messages change their places, and their answers say so. */
function swap({ record, calls }: History): void {
  const [first, second] = [record[3], record[4]] as [Entry, Entry];
  Object.assign(record, { 3: { ...second, seq: 4 }, 4: { ...first, seq: 5 } });
  for (const one of calls) if (one.answer?.seq === 4 || one.answer?.seq === 5) one.answer = told(9 - one.answer.seq);
}

function oversleep({ record, calls }: History): void {
  for (let n = 0; n < 6; n++) {
    const at = 1_000 * (n + 1);
    record.push(posted(10 + n, 'dana', `late ${n}`));
    calls.push(post('dana', `late ${n}`, [at, at + 10], 10 + n));
    calls.push(call('ann', 'inbox', [at, at + 810], { wait: 1_000 }, { seqs: [], cursor: 9 + n }));
  }
}
