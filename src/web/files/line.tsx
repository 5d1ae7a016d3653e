/** One line of code with syntax colours and marked changes. */
import type { Piece } from '../parts/syntax.ts';
import type { Range } from './diff-rows.ts';

const Coloured = ({ pieces }: { pieces: Piece[] }) => (
  <>
    {pieces.map(({ text, colour }, index) =>
      colour ? (
        <span key={index} class={colour}>
          {text}
        </span>
      ) : (
        text
      ),
    )}
  </>
);

/** Like `slice`, for coloured pieces. */
function slicePieces(pieces: Piece[], from: number, to: number): Piece[] {
  const found: Piece[] = [];
  let at = 0;
  for (const { text, colour } of pieces) {
    const part = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    if (part !== '') found.push({ text: part, colour });
    at += text.length;
  }
  return found;
}

export function Line({ pieces, words = [] }: { pieces: Piece[]; words?: Range[] }) {
  if (words.length === 0) return <Coloured pieces={pieces} />;
  const parts: { from: number; to: number; word: boolean }[] = [];
  let at = 0;
  for (const [from, to] of words) {
    parts.push({ from: at, to: from, word: false }, { from, to, word: true });
    at = to;
  }
  parts.push({ from: at, to: Number.POSITIVE_INFINITY, word: false });
  return (
    <>
      {parts.map(({ from, to, word }) =>
        word ? (
          <i key={from} class="w">
            <Coloured pieces={slicePieces(pieces, from, to)} />
          </i>
        ) : (
          <Coloured key={`${from}-`} pieces={slicePieces(pieces, from, to)} />
        ),
      )}
    </>
  );
}
