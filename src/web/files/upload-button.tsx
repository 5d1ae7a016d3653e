/** A button that takes a file of the person's and sends it, with how far it is and a way to stop. */
import { useRef, useState } from 'preact/hooks';
import { ProblemLine } from '../parts/problem.tsx';
import { useWrite, type Write } from '../state/write.ts';
import { Progress } from '../upload/progress.tsx';
import { sendFile, type UploadTarget } from '../upload/send.ts';

interface Upload extends Write {
  /** What is on its way, or was stopped by a problem. */
  bytes: File | null;
  sent: number;
  cancel(): void;
  /** Answers whether the version was made. */
  send(bytes: File, where: UploadTarget): Promise<boolean>;
}

/** Uploads to a board, one at a time; the same file to the same place after an unclear outcome is the same request. */
export function useUpload(board: string): Upload {
  const write = useWrite();
  const [bytes, setBytes] = useState<File | null>(null);
  const [sent, setSent] = useState(0);
  const stop = useRef<AbortController | null>(null);
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
      const done = await write.run(what, (key) =>
        sendFile(board, next, where, { key, signal: control.signal, onProgress: setSent }),
      );
      if (done) setBytes(null);
      if (control.signal.aborted) write.clear();
      return done;
    },
  };
}

interface ButtonProps {
  label: string;
  upload: Upload;
  /** Before the person chooses. */
  begin?: () => void;
  take: (bytes: File) => void;
  /** A problem is shown elsewhere. */
  quiet?: boolean;
}

export function UploadButton({ label, upload, begin, take, quiet = false }: ButtonProps) {
  const { bytes, sent, busy, error } = upload;
  return (
    <>
      <label class={busy ? 'b pick busy' : 'b pick'}>
        <input
          class="vh"
          type="file"
          disabled={busy}
          onClick={(event) => {
            begin?.();
            // The same file may be chosen again.
            event.currentTarget.value = '';
          }}
          onChange={(event) => {
            const [chosen] = event.currentTarget.files ?? [];
            if (chosen) take(chosen);
          }}
        />
        {label}
      </label>
      {bytes && busy && (
        <div class="full">
          <Progress name={bytes.name} sent={sent} size={bytes.size} onCancel={upload.cancel} />
        </div>
      )}
      {bytes && !busy && error !== null && !quiet && (
        <div class="full">
          <ProblemLine error={error} onRetry={() => take(bytes)} />
        </div>
      )}
    </>
  );
}
