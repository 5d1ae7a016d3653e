/** A button that chooses and uploads a file, with progress. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { errorText } from '../api/errors.ts';
import { ProblemLine } from '../parts/problem.tsx';
import { toast } from '../parts/toast.tsx';
import { useWrite, type Write } from '../state/write.ts';
import { Progress } from '../upload/progress.tsx';
import { sendFile, type UploadTarget } from '../upload/send.ts';

interface Upload extends Write {
  /** The file being uploaded, or whose upload failed. */
  bytes: File | null;
  sent: number;
  cancel(): void;
  /** Uploads a file. Returns whether it succeeded. */
  send(bytes: File, where: UploadTarget): Promise<boolean>;
}

/** Uploads to a board, one at a time. Retrying the same file after an unknown outcome reuses the idempotency key. */
export function useUpload(board: string): Upload {
  const write = useWrite();
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
    ...write,
    bytes,
    sent,
    cancel() {
      stop.current?.abort();
      setBytes(null);
      write.clear();
    },
    async send(next, where) {
      const control = new AbortController();
      stop.current = control;
      setBytes(next);
      setSent(0);
      const what = `${next.name} ${next.size} ${next.lastModified} ${JSON.stringify(where)}`;
      const done = await write.run(what, async (key) => {
        try {
          await sendFile(board, next, where, { key, signal: control.signal, onProgress: setSent });
        } catch (error) {
          // The screen that would show it is no longer there.
          if (left.current) toast(`${where.name} was not added. ${errorText(error)}`);
          throw error;
        }
      });
      if (done) setBytes(null);
      if (control.signal.aborted) write.clear();
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
