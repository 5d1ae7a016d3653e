/** The diff of two versions of a text. */
import { useMemo, useRef } from 'preact/hooks';
import type { FileDetail, FileVersion } from '../../contract/types.ts';
import { MAX_TEXT_BYTES, readText } from '../api/bytes.ts';
import { formatNumber } from '../parts/number.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { agoPhrase } from '../parts/time.tsx';
import { useKeys } from '../state/keys.ts';
import { useLoad } from '../state/load.ts';
import { compare } from './diff-rows.ts';
import DiffTable from './diff-table.tsx';

interface ChangesProps {
  board: string;
  file: FileDetail;
  from: FileVersion;
  to: FileVersion;
}

export default function Changes({ board, file, from, to }: ChangesProps) {
  const box = useRef<HTMLDivElement>(null);
  const tooLong = Math.max(from.size, to.size) > MAX_TEXT_BYTES;
  const textOf = ({ version }: FileVersion): Promise<string> => readText({ board, file: file.id, version });
  const {
    value: texts,
    error,
    reload,
  } = useLoad(
    async () => (tooLong ? null : Promise.all([textOf(from), textOf(to)])),
    [board, file.id, from.version, to.version],
  );

  const last = useRef<Element | null>(null);
  const goToNextChange = (): unknown => {
    const rows = [...(box.current?.querySelectorAll('tr.changed') ?? [])];
    const starts = rows.filter((row) => !row.previousElementSibling?.classList.contains('changed'));
    if (starts.length === 0) return false;
    const row = starts[(starts.indexOf(last.current!) + 1) % starts.length]!;
    last.current = row;
    row.scrollIntoView({ block: 'center' });
    for (const each of rows) each.classList.toggle('at', each === row);
    return true;
  };
  useKeys('Changes', [{ keys: 'n', label: 'Next change', run: goToNextChange }]);

  const found = useMemo(() => texts && compare(...texts), [texts]);
  const head = ({ version, by, at }: FileVersion): string => {
    const approved = file.approvals.filter((approval) => approval.version === version).map(({ person }) => person.name);
    return `v${version} ${by.name}, ${agoPhrase(at)}${approved.length > 0 ? `, approved by ${approved.join(' and ')}` : ''}`;
  };
  if (error !== null) return <ProblemLine error={error} onRetry={reload} />;
  if (tooLong) return <p class="q2">One of the versions is longer than 512 KB: get both to compare them.</p>;
  if (!texts) return <div aria-busy="true" />;
  return (
    <div ref={box}>
      <p class="row w dsum">
        {found && (
          <span class="mono nw">
            <span class="st ok">+{formatNumber(found.added)}</span>{' '}
            <span class="st bad">−{formatNumber(found.removed)}</span>
            <span class="vh"> lines</span>
          </span>
        )}
        <span class="sp" />
        <span class="q2 desk">
          <kbd>n</kbd> next change
        </span>
      </p>
      <DiffTable before={texts[0]} after={texts[1]} name={file.name} heads={[head(from), head(to)]} compared={found} />
    </div>
  );
}
