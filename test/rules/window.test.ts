/** Pages of lists whose items are long. */
import { expect } from 'chai';
import { pageOf } from '../../src/server/views/window.ts';

interface Row {
  seq: number;
  text: string;
}

describe('a page of long items', () => {
  const all = Array.from({ length: 300 }, (_, index): Row => ({ seq: index + 1, text: 'x'.repeat(30_000) }));
  let viewed = 0;
  beforeEach(() => {
    viewed = 0;
  });

  const page = <Item extends { seq: number }>(view: (row: Row) => Item) =>
    pageOf<Row, Item>(
      {
        rows: async ({ after }, _, limit) => all.slice(after, after + limit),
        any: async ({ after, before }) => after + 1 < (before ?? all.length + 1),
        view: async (rows) => {
          viewed += rows.length;
          return rows.map(view);
        },
        seq: ({ seq }) => seq,
        weight: ({ text }) => text.length,
      },
      { after: 0, before: null, limit: 200, newest: false },
    );

  it('is composed of hardly more rows than it can hold', async () => {
    const { items, ...ends } = await page((row) => row);
    expect(items).to.have.length(34);
    expect(ends).to.deep.equal({ next_after: 34, prev_before: null });
    expect(viewed).to.be.at.most(35);
  });

  it('holds all that was asked for where little is shown of each', async () => {
    const { items, next_after } = await page(({ seq }) => ({ seq }));
    expect(items.map(({ seq }) => seq)).to.deep.equal(all.slice(0, 200).map(({ seq }) => seq));
    expect(next_after).to.equal(200);
    expect(viewed).to.equal(200);
  });
});
