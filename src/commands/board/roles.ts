import { listFlag, stringFlag, WriteCommand } from '../../cli/base.ts';
import { without } from '../../cli/session/here.ts';
import { board, flag, object } from '../../cli/shapes.ts';
import { readWhole } from '../../cli/stdin.ts';
import { indented } from '../../cli/terminal/fields.ts';
import { table } from '../../cli/terminal/table.ts';
import type { Role } from '../../contract/types.ts';
import { usage } from '../../local/failure.ts';
import { changeLine, grantOf, readBoard, rolesWith } from './lib/settings.ts';

export const json = () => object({ roles: board.shape.roles, changed: flag });

export default class BoardRoles extends WriteCommand<typeof BoardRoles> {
  static override boardFirst = true;
  static override readOnly = without('set', 'remove');
  static override summary = 'Show or change what the agents of a board may do';
  static override description =
    'For owners. An agent has its role for life, and what the role may do holds from its next request on. Grants: post,\nbroadcast, urgent, create_tasks, claim_tasks, write_notes, upload_files, invite, edit_charter, add_people.\nclaim_tasks=bug+docs is for these types of task only.';
  static override examples = [
    'service board roles',
    'service board roles --set reviewer --can post,claim_tasks --charter-file reviewer.md',
    'service board roles --remove reviewer',
  ];
  static override seeAlso = ['board policy', 'board charter', 'agent create'];
  static override flags = {
    set: stringFlag('ROLE', 'Role to add or change', { exclusive: ['remove'] }),
    can: listFlag({ helpValue: 'GRANT', description: 'What it may do, all of it' }),
    'charter-file': stringFlag('PATH|-', 'File with what the role is for'),
    remove: stringFlag('ROLE', 'Role to take away'),
  };

  override async run(): Promise<void> {
    const { set, remove, can, 'charter-file': file } = this.flags;
    const name = set ?? remove;
    if (name === undefined) {
      if (can !== undefined || file !== undefined) throw usage('Say which role: --set ROLE.');
      const { roles } = await readBoard(await this.onBoard('A'));
      const text = await rolesText(roles);
      this.print<typeof json>({ roles, changed: false }, () => text);
      return;
    }
    const grants = can?.map(grantOf);
    const session = await this.onBoard('P');
    const charter = file === undefined ? undefined : await readWhole(file, this.out, 'a charter');
    const repeatable = this.key !== undefined;
    // Read only now: the whole map is sent.
    const { roles: before } = await readBoard(session);
    const after = rolesWith(before, { set, remove, can: grants, charter, repeatable });
    const input = { params: { board: session.board }, body: { roles: after } };
    const { data, again } = await this.write(session.client, 'updateBoard', input);
    const { roles } = data;
    const changed = JSON.stringify(before[name]) !== JSON.stringify(roles[name]);
    const line = changeLine(`role ${name}`, session.board, grantWords(before[name]), grantWords(roles[name]));
    const texts =
      changed && line.endsWith(': unchanged') ? `charter of role ${name} of ${session.board}: changed` : line;
    this.print<typeof json>({ roles, changed }, () => `${texts}${again}`);
  }
}

/** What a role lets its agents do. */
const grantWords = (role: Role | undefined): string => {
  if (!role) return 'none';
  const words = role.can.map((grant) =>
    typeof grant === 'string' ? grant : `claim_tasks=${grant.claim_tasks.join('+')}`,
  );
  return words.length === 0 ? 'nothing' : words.join(', ');
};

/** Each role under its heads, with its charter. */
async function rolesText(roles: Readonly<Record<string, Role>>): Promise<string> {
  const named = Object.entries(roles);
  const [heads, ...rows] = await table(
    ['ROLE', 'MAY'],
    named.map(([name, role]) => [name, grantWords(role)]),
  );
  const charters = named.map(([, { charter }]) => (charter ? [indented(charter)] : []));
  return [heads, ...rows.flatMap((row, n) => [row, ...(charters[n] ?? [])])].join('\n');
}
