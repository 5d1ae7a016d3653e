/** A chart of bars as SVG: one for each figure, with its value written beside it. */

export interface Bar {
  label: string;
  value: number;
  /** A server other than this one. */
  other?: boolean;
}

const WIDTH = 720;
const LABELS = 250;
const VALUES = 70;
const ROW = 28;
const TOP = 44;

/** @param note what it was measured on, below the bars. */
export function barChart(title: string, bars: readonly Bar[], note: string): string {
  const most = Math.max(...bars.map(({ value }) => value));
  const height = TOP + bars.length * ROW + 34;
  const rows = bars.map(({ label, value, other }, n) => {
    const y = TOP + n * ROW;
    const width = Math.max(1, ((WIDTH - LABELS - VALUES) * value) / most);
    return [
      `<text x="${LABELS - 10}" y="${y + 15}" text-anchor="end">${escaped(label)}</text>`,
      `<rect x="${LABELS}" y="${y + 2}" width="${width.toFixed(1)}" height="18" rx="2" fill="${other ? '#9aa4b0' : '#2563a8'}"/>`,
      `<text x="${(LABELS + width + 8).toFixed(1)}" y="${y + 15}">${value < 10 ? value.toFixed(1) : Math.round(value)}</text>`,
    ].join('\n');
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(title)}" font-family="system-ui, sans-serif" font-size="13" fill="#1f2933">`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    `<text x="16" y="26" font-size="15" font-weight="600">${escaped(title)}</text>`,
    ...rows,
    `<text x="16" y="${height - 12}" font-size="11" fill="#5b6672">${escaped(note)}</text>`,
    '</svg>\n',
  ].join('\n');
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
