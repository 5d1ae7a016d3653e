/** Previews a version: Markdown, HTML, code, image or PDF. */
import { Suspense } from 'preact/compat';
import { useEffect, useState } from 'preact/hooks';
import type { FileDetail, FileVersion } from '../../contract/types.ts';
import { bytesHref, MAX_TEXT_BYTES, readBytes, readText } from '../api/bytes.ts';
import { lazy } from '../parts/lazy.ts';
import { Markdown } from '../parts/markdown.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { useLoad } from '../state/load.ts';
import { kindOf } from './kind.ts';

const Code = lazy(() => import('./code.tsx'));
const LongText = lazy(() => import('./long-text.tsx'));
const Html = lazy(() => import('../parts/html-preview.tsx').then(({ HtmlPreview }) => ({ default: HtmlPreview })));

interface PreviewProps {
  board: string;
  file: FileDetail;
  shown: FileVersion;
}

export default function Preview({ board, file, shown }: PreviewProps) {
  const version = { board, file: file.id, version: shown.version };
  const kind = kindOf(shown.media_type);
  if (kind === 'image') return <img class="pimg" src={bytesHref(version)} alt={`${file.name} v${shown.version}`} />;
  if (kind === 'pdf') return <Pdf {...version} name={file.name} />;
  if (kind === 'other') return <p class="q2">There is no preview of {shown.media_type}. Get it to open it.</p>;
  if (shown.size > MAX_TEXT_BYTES)
    return (
      <Suspense fallback={<div aria-busy="true" />}>
        <LongText key={shown.version} {...version} />
      </Suspense>
    );
  return <Text {...version} name={file.name} kind={kind} />;
}

type Props = { board: string; file: string; version: number; name: string };

function Text({ board, file, version, name, kind }: Props & { kind: 'markdown' | 'html' | 'text' }) {
  const { value: text, error, reload } = useLoad(() => readText({ board, file, version }), [board, file, version]);
  if (error !== null) return <ProblemLine error={error} onRetry={reload} />;
  if (text === null) return <div aria-busy="true" />;
  if (text === '') return <p class="q2">It is empty.</p>;
  if (kind === 'markdown')
    return (
      <div class="pmd">
        <Markdown text={text} />
      </div>
    );
  if (kind === 'html')
    return (
      <Suspense fallback={<div aria-busy="true" />}>
        <Html html={text} title={`${name} v${version}`} />
      </Suspense>
    );
  return (
    <Suspense fallback={<div aria-busy="true" />}>
      <Code text={text} name={name} />
    </Suspense>
  );
}

/**
 * Uses the browser's PDF viewer, which is isolated from the page. The blob's type makes it treat the bytes as PDF only.
 */
function Pdf({ board, file, version, name }: Props) {
  const viewer = navigator.pdfViewerEnabled;
  const { value, error, reload } = useLoad(
    async () => (viewer ? readBytes({ board, file, version }) : null),
    [board, file, version],
  );
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (!value) return;
    const made = URL.createObjectURL(new Blob([value], { type: 'application/pdf' }));
    setUrl(made);
    return () => {
      setUrl(null);
      URL.revokeObjectURL(made);
    };
  }, [value]);
  if (!viewer) return <p class="q2">This browser shows no PDF in a page. Get it to open it.</p>;
  if (error !== null) return <ProblemLine error={error} onRetry={reload} />;
  if (value === null || url === null) return <div aria-busy="true" />;
  return <iframe class="ppdf" src={url} title={`${name} v${version}`} referrerpolicy="no-referrer" />;
}
