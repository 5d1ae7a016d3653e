/** Pages of lists whose items are long. */
import { expect } from 'chai';
import { pageOf } from '../../src/server/views/window.ts';

interface Row {
  seq: number;
  text: string;
}

describe('a page of long items', () => {
  const all = Array.from({ length: 300 }, (_, index): Row => ({ seq: index + 1, text: 'x'.repeat(30_000) }));

  it('is composed of no more rows than it can hold', async () => {
    let viewed = 0;
    const page = await pageOf<Row, Row>(
      {
        rows: async ({ after }, _, limit) => all.slice(after, after + limit),
        any: async ({ after, before }) => after + 1 < (before ?? all.length + 1),
        view: async (rows) => {
          viewed += rows.length;
          return rows;
        },
        seq: ({ seq }) => seq,
        weight: ({ text }) => text.length,
      },
      { after: 0, before: null, limit: 200, newest: false },
    );
    expect(page.items).to.have.length(34);
    expect(page).to.deep.include({ next_after: 34, prev_before: null });
    expect(viewed).to.be.at.most(35);
  });
});
