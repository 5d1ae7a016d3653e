/** A button that chooses and uploads a file, with progress. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { errorText } from '../api/errors.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { toastError } from '../parts/toast.tsx';
import { type Action, useAction } from '../state/action.ts';
import { Progress } from '../upload/progress.tsx';
import { sendOnce, type UploadTarget } from '../upload/send.ts';

interface Upload extends Action {
  /** The file being uploaded, or whose upload failed. */
  bytes: File | null;
  sent: number;
  cancel(): void;
  /** Uploads a file. Returns whether it succeeded. */
  send(bytes: File, where: UploadTarget): Promise<boolean>;
}

/** Uploads to a board, one at a time. */
export function useUpload(board: string): Upload {
  const action = useAction();
  const [bytes, setBytes] = useState<File | null>(null);
  const [sent, setSent] = useState(0);
  const stop = useRef<AbortController | null>(null);
  const left = useRef(false);
  useEffect(
    () => () => {
      left.current = true;
    },
    [],
  );
  return {
    ...action,
    bytes,
    sent,
    cancel() {
      stop.current?.abort();
      setBytes(null);
      action.clear();
    },
    async send(next, where) {
      const control = new AbortController();
      stop.current = control;
      setBytes(next);
      setSent(0);
      const done = await action.run(async () => {
        try {
          await sendOnce(board, next, where, { signal: control.signal, onProgress: setSent });
        } catch (error) {
          // The screen that would show it is no longer there.
          if (left.current) toastError(`${where.name} was not added. ${errorText(error)}`);
          throw error;
        }
      });
      if (done) setBytes(null);
      if (control.signal.aborted) action.clear();
      return done;
    },
  };
}

interface ButtonProps {
  label: string;
  upload: Upload;
  /** Called before the file chooser opens. */
  onOpen?: () => void;
  onFile: (bytes: File) => void;
  /** Set if the error is shown elsewhere. */
  hideError?: boolean;
}

export function UploadButton({ label, upload, onOpen, onFile, hideError = false }: ButtonProps) {
  const { bytes, sent, busy, error } = upload;
  return (
    <>
      <label class={busy ? 'b pick busy' : 'b pick'}>
        <input
          class="vh"
          type="file"
          disabled={busy}
          onClick={(event) => {
            onOpen?.();
            // Otherwise choosing the same file again fires no change event.
            event.currentTarget.value = '';
          }}
          onChange={(event) => {
            const [chosen] = event.currentTarget.files ?? [];
            if (chosen) onFile(chosen);
          }}
        />
        {label}
      </label>
      {bytes && busy && (
        <div class="full">
          <Progress name={bytes.name} sent={sent} size={bytes.size} onCancel={upload.cancel} />
        </div>
      )}
      {bytes && !busy && error !== null && !hideError && (
        <div class="full">
          <ProblemLine error={error} onRetry={() => onFile(bytes)} />
        </div>
      )}
    </>
  );
}
