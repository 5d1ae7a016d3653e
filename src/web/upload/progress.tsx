/** The progress of an upload, with a cancel button. */
import type { ComponentChildren } from 'preact';
import { Icon, IconButton } from '../parts/icon.tsx';
import { formatBytes } from '../parts/number.ts';
import './upload.css';

/** @param problem shown instead of the progress bar after a failure */
export function Progress(props: {
  name: string;
  sent: number;
  size: number;
  onCancel: () => void;
  problem?: ComponentChildren;
}) {
  const { name, sent, size, onCancel, problem } = props;
  const percent = size === 0 ? 100 : Math.floor((sent / size) * 100);
  return (
    <div class="upl">
      <Icon name="clip" />
      <div class="sp">
        <div class="row upl-name">
          <span class="mono cut">{name}</span>
          {!problem && (
            <span class="q nw">
              {percent === 100 ? 'being stored' : `${formatBytes(sent)} of ${formatBytes(size)}`}
            </span>
          )}
        </div>
        {problem ?? (
          <div
            class="pbar"
            role="progressbar"
            aria-label={`Upload of ${name}`}
            aria-valuenow={percent}
            aria-valuetext={`${percent} percent`}
          >
            <i style={{ width: `${percent}%` }} />
          </div>
        )}
      </div>
      <IconButton icon="x" label={`Cancel the upload of ${name}`} onClick={onCancel} />
    </div>
  );
}
