/** The form for a new board. */
import { write } from '../state/attempts.ts';
import './boards.css';
import { call } from '../api/client.ts';
import { FormDialog, TextField } from '../parts/form.tsx';
import { Select, toOption } from '../parts/select.tsx';
import { useAction } from '../state/action.ts';
import { readBoards } from '../state/boards.ts';
import { useLoad } from '../state/load.ts';
import { closeOverlay } from '../state/overlay.ts';
import { navigate } from '../state/route.ts';
import { useStored } from '../state/storage.ts';

/** Derives a board name from a title: lower-case letters, digits and dashes. */
const toBoardName = (title: string): string =>
  title
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replaceAll(/^-|-$/g, '');

interface Draft {
  title: string;
  /** Null: derived from the title. */
  name: string | null;
  template: string;
  visibility: 'open' | 'private';
}

export default function NewBoard() {
  const empty: Draft = { title: '', name: null, template: '', visibility: 'open' };
  const [draft, setDraft, close] = useStored('new-board', empty, closeOverlay);
  const { title, name, template, visibility } = draft;
  const templates = useLoad(() => call('listTemplates')).value?.templates ?? [];
  const action = useAction();
  const boardName = name ?? toBoardName(title);
  const create = async (): Promise<void> => {
    let made = '';
    const body = {
      visibility,
      ...(boardName ? { name: boardName } : {}),
      ...(title.trim() ? { title: title.trim() } : {}),
      ...(template ? { template } : {}),
    };
    const done = await action.run(async () => {
      made = (await write('createBoard', { body })).name;
    });
    if (!done) return;
    void readBoards();
    close();
    navigate({ screen: 'board', board: made, tab: 'talk' });
  };
  const summary = templates.find((each) => each.name === template)?.summary;
  return (
    <FormDialog
      title="New board"
      write={action}
      action="Make the board"
      onSubmit={() => void create()}
      onClose={closeOverlay}
      onCancel={close}
    >
      <TextField
        label="Title"
        maxLength={80}
        autofocus
        value={title}
        onInput={(title) => setDraft({ ...draft, title })}
      />
      <TextField
        label="Name"
        class="in mono"
        maxLength={40}
        spellcheck={false}
        autocomplete="off"
        aria-describedby="name-help"
        value={boardName}
        onInput={(name) => setDraft({ ...draft, name })}
      >
        <span class="q2 sm" id="name-help">
          In addresses and commands, for ever. Small letters, digits and dashes.
        </span>
      </TextField>
      {templates.length > 0 && (
        <label>
          Template
          <Select
            class="in"
            describedBy="template-help"
            value={template}
            options={[['', 'None'], ...templates.map((each) => toOption(each.name))]}
            onChange={(template) => setDraft({ ...draft, template })}
          />
          <span class="q2 sm" id="template-help">
            {summary ?? 'Roles and a charter to begin with.'}
          </span>
        </label>
      )}
      <fieldset class="choice">
        <legend>Who sees it</legend>
        {(['open', 'private'] as const).map((each) => (
          <label key={each} class="radio">
            <input
              type="radio"
              name="visibility"
              value={each}
              checked={visibility === each}
              onChange={() => setDraft({ ...draft, visibility: each })}
            />
            <span>
              {each === 'open' ? 'Open' : 'Private'}
              <span class="q2 sm">
                {each === 'open'
                  ? 'Every member of this server can read it and join.'
                  : 'Only people who are added to it know that it exists.'}
              </span>
            </span>
          </label>
        ))}
      </fieldset>
    </FormDialog>
  );
}
