/** What it costs to refuse a large body. */
import { expect } from 'chai';
import { type OperationName, operations } from '../../src/contract/operations.ts';
import { parseBody } from '../../src/server/http/body/parse.ts';

const BYTES = 131_072;
/** Times of what parsing takes; reading one as its schema takes up to 15. */
const MOST = 5;
/** Of what parsing takes. */
const PART = 0.2;

/** As many fields as fit, each with another name. */
function fields(bytes: number): string {
  const all: string[] = [];
  for (let [n, length] = [46_656, 0]; length < bytes - 20; n++) {
    const field = `"${n.toString(36)}":1`;
    all.push(field);
    length += field.length + 1;
  }
  return `{${all.join(',')}}`;
}

/** How many times longer than parsing: the least of several measurements, since others use this machine. */
function timesOf(text: string, work: () => unknown, most = MOST): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 10 && least >= most; run++) {
    const parsing = durationOf(() => JSON.parse(text));
    least = Math.min(least, durationOf(work) / parsing);
  }
  return least;
}

function durationOf(work: () => unknown): number {
  const started = performance.now();
  work();
  return performance.now() - started;
}

describe('a body full of fields that are not known', () => {
  const unknown = fields(BYTES);
  const refuse = (name: OperationName, text: string) => () => {
    const bytes = Buffer.from(text);
    expect(() => parseBody(name, 'application/json', bytes)).to.throw(/is not known here|has a name that/);
  };

  it('is refused by each operation within a few times of what parsing it takes', () => {
    for (const name of Object.keys(operations) as OperationName[])
      expect(timesOf(unknown, refuse(name, unknown)), name).to.be.below(MOST);
  });

  it('is so too where they stand deeper in it', () => {
    const deeper: [OperationName, string][] = [
      ['updateBoard', `{"roles":${unknown}}`],
      ['updateBoard', `{"policy":${unknown}}`],
      ['createBoard', `{"name":"a","roles":{"member":{"can":[${unknown}]}}}`],
      ['postMessage', `{"body":"a","ask":${unknown}}`],
      ['postMessage', `{"body":"a","files":[${unknown}]}`],
      ['reportDeliveryQueue', `{"messages":[${unknown}]}`],
    ];
    for (const [name, text] of deeper) expect(timesOf(text, refuse(name, text)), text.slice(0, 40)).to.be.below(MOST);
  });
});

describe('a body that is nested too deep', () => {
  it('is refused without being parsed, which takes longer than of any other body', () => {
    const half = BYTES / 2;
    const deeper = [
      `${'['.repeat(half)}${']'.repeat(half)}`,
      `{"body":${'{"a":'.repeat(half / 4)}1${'}'.repeat(half / 4 + 1)}`,
    ];
    for (const deep of deeper) {
      const refuse = () =>
        expect(() => parseBody('postMessage', 'application/json', Buffer.from(deep))).to.throw(/nested deeper than 32/);
      expect(timesOf(deep, refuse, PART), deep.slice(0, 4)).to.be.below(PART);
    }
  });
});
