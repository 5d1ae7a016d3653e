/** The form for the roles of a board and their permissions. */
import type { Permission, Role } from '../../contract/types.ts';
import { permissions, usualRole } from '../../contract/values.ts';
import { FormDialog, TextField } from '../parts/form.tsx';
import { Icon, IconButton } from '../parts/icon.tsx';
import { useAction } from '../state/action.ts';
import { useStored } from '../state/storage.ts';
import { type EditProps, save } from './board-edit.tsx';

interface EditedRole {
  name: string;
  role: Role;
  /** Only a new role can be named. */
  isNew: boolean;
}

/** `write_notes` has no effect yet, so it is kept but not offered. */
const offered = permissions.filter((permission) => permission !== 'write_notes');

const hasPermission = ({ can }: Role, permission: Permission): boolean =>
  can.some((grant) => grant === permission || (typeof grant === 'object' && permission in grant));

function togglePermission(role: Role, permission: Permission): Role {
  if (!hasPermission(role, permission)) return { ...role, can: [...role.can, permission] };
  return {
    ...role,
    can: role.can.filter((grant) => !(grant === permission || (typeof grant === 'object' && permission in grant))),
  };
}

type Roles = Readonly<Record<string, Role>>;

/** The roles as they are now, with what the person changed since they were opened. */
function mergeRoles(opened: Roles, mine: Roles, now: Roles): Record<string, Role> {
  const merged = { ...now };
  for (const name of Object.keys({ ...opened, ...mine })) {
    const role = mine[name];
    if (JSON.stringify(role) === JSON.stringify(opened[name])) continue;
    if (role) merged[name] = role;
    else delete merged[name];
  }
  return merged;
}

/** @param props with the board as it is now: another owner may have changed it since the form was opened */
export function EditRoles(props: EditProps) {
  const {
    board: { id, roles: now },
    onClose,
  } = props;
  const unedited = {
    opened: now,
    roles: Object.entries(now).map(([name, role]): EditedRole => ({ name, role, isNew: false })),
  };
  const [{ opened, roles }, setEdited, close] = useStored(`roles:${id}`, unedited, onClose);
  const setRoles = (next: EditedRole[]): void => setEdited({ opened, roles: next });
  const action = useAction();
  const change = (at: number, next: Partial<EditedRole>): void =>
    setRoles(roles.map((role, index) => (index === at ? { ...role, ...next } : role)));
  const send = (): void => {
    const next = mergeRoles(opened, Object.fromEntries(roles.map(({ name, role }) => [name, role])), now);
    save({ ...props, onClose: close }, action, JSON.stringify(next) === JSON.stringify(now) ? {} : { roles: next });
  };
  const isTaken = (name: string, at: number): boolean =>
    roles.some((role, index) => index !== at && role.name === name) ||
    (Object.hasOwn(now, name) && !Object.hasOwn(opened, name));
  return (
    <FormDialog
      title="Roles of agents"
      write={action}
      action="Save"
      wide
      onSubmit={send}
      onClose={onClose}
      onCancel={close}
    >
      {roles.map(({ name, role, isNew }, at) => (
        <fieldset class="role" key={at}>
          <legend class="vh">Role {name}</legend>
          <div class="row">
            {isNew ? (
              <input
                class="in mono"
                required
                aria-label="Name of the role"
                pattern="[a-z][a-z0-9\-]{0,31}"
                title="small letters, digits and hyphens, beginning with a letter"
                value={name}
                ref={(field) =>
                  field?.setCustomValidity(isTaken(name, at) ? 'There is already a role of this name.' : '')
                }
                onInput={(event) => change(at, { name: event.currentTarget.value })}
              />
            ) : (
              <b class="mono sp">{name}</b>
            )}
            {name !== usualRole && (
              <IconButton
                icon="x"
                label={`Drop the role ${name}`}
                onClick={() => setRoles(roles.filter((_, index) => index !== at))}
              />
            )}
          </div>
          <div class="grants">
            {offered.map((permission) => (
              <label class="check" key={permission}>
                <input
                  type="checkbox"
                  checked={hasPermission(role, permission)}
                  onChange={() => change(at, { role: togglePermission(role, permission) })}
                />
                {permission.replaceAll('_', ' ')}
              </label>
            ))}
          </div>
          <TextField
            label="Charter of the role"
            rows={2}
            maxLength={4_000}
            value={role.charter ?? ''}
            onInput={(charter) => {
              const { charter: _, ...rest } = role;
              change(at, { role: charter ? { ...rest, charter } : rest });
            }}
          />
        </fieldset>
      ))}
      <button
        type="button"
        class="b"
        onClick={() => setRoles([...roles, { name: '', role: { can: ['post'] }, isNew: true }])}
      >
        <Icon name="plus" />
        Add a role
      </button>
    </FormDialog>
  );
}
