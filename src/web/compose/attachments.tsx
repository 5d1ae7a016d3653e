/** The attached files of a draft, and its uploads. */
import { Icon, IconButton } from '../parts/icon.tsx';
import { ProblemLine } from '../parts/problem.tsx';
import { Progress } from '../upload/progress.tsx';
import { cancel, existingFile, nextName, retry } from './attach.ts';
import { changeDraft, getDraft } from './draft.ts';
import { type Upload, uploads } from './uploads.ts';

export default function Attachments({ name, focus }: { name: string; focus: () => void }) {
  const { files } = getDraft(name).value;
  const moving = uploads.value.filter(({ draft }) => draft === name);
  return (
    <>
      {moving.map((upload) => (
        <Progress
          key={upload.id}
          name={upload.where.name}
          sent={upload.sent}
          size={upload.file.size}
          onCancel={() => {
            cancel(upload);
            focus();
          }}
          problem={upload.error === null ? undefined : <Stopped upload={upload} focus={focus} />}
        />
      ))}
      {files.length > 0 && (
        <ul class="attached" aria-label="Attached files">
          {files.map((file) => (
            <li key={`${file.id} ${file.version}`} class="chip">
              <Icon name="file" small />
              <span class="mono cut">{file.name}</span>
              <span class="nw">v{file.version}</span>
              <IconButton
                icon="x"
                label={`Do not attach ${file.name}`}
                small
                onClick={() => {
                  changeDraft(name, { files: files.filter((other) => other !== file) });
                  focus();
                }}
              />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Stopped({ upload, focus }: { upload: Upload; focus: () => void }) {
  const there = existingFile(upload);
  const { name } = upload.where;
  const send = (where: Upload['where']) => () => {
    retry(upload, where);
    focus();
  };
  if (there)
    return (
      <div class="row w" role="alert">
        <span>The board has a file of this name, v{there.version}.</span>
        <button type="button" class="b t28" onClick={send({ name, base: there.version, file_id: there.file_id })}>
          Add as v{there.version + 1}
        </button>
        <button type="button" class="b t28" onClick={send({ name: nextName(name) })}>
          Keep both, as {nextName(name)}
        </button>
      </div>
    );
  return (
    <ProblemLine error={upload.error}>
      {canTryAgain(upload) && (
        <button type="button" class="b t28" onClick={send(upload.where)}>
          Try again
        </button>
      )}
    </ProblemLine>
  );
}

/** An upload refused for its size or content would be refused again. */
const canTryAgain = ({ error }: Upload): boolean =>
  !['file_too_large', 'file_has_secret', 'file_unreadable', 'brief_path_reserved'].includes(
    (error as { code?: string }).code ?? '',
  );
