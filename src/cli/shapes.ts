/** Building blocks for the shapes of commands' JSON: the contract's records, and fields that every result may have. */
import { z } from 'zod';
import { namedSchemas } from '../contract/openapi/openapi-schemas.ts';
import { operations } from '../contract/operations.ts';
import { errorBody } from '../contract/schemas.ts';

type Fields = Record<string, z.ZodType>;

/** What an operation answers. */
export const answer = <Name extends keyof typeof operations>(name: Name): (typeof operations)[Name]['answer'] =>
  operations[name].answer;

/** Schemas with a name in what is published: each stands once, and others refer to it. */
export const records = namedSchemas();

/** Gives a record its name. */
export function named<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  records.add(schema, { id });
  return schema;
}

/** A problem beside a result, and what to do about it. */
export const problem = named('Problem', z.strictObject({ code: z.string(), message: z.string(), hint: z.string() }));

/** Fields that every object of a command may have besides its own. */
export const base = named(
  'Base',
  z.object({
    server: z.strictObject({ name: z.string(), url: z.string() }).optional(),
    actor: z
      .strictObject({
        kind: z.enum(['person', 'agent']),
        name: z.string(),
        id: z.string(),
        owner: z.string().optional(),
      })
      .optional(),
    board: z.string().optional(),
    autostarted: z.array(z.string()).optional(),
    replayed: z.literal(true).optional(),
    nudges: z.array(z.strictObject({ code: z.string(), text: z.string() })).optional(),
    warnings: z.array(problem).optional(),
  }),
);

/** One object with these fields, and what every object may have. */
export const object = <Own extends Fields>(fields: Own) =>
  z.strictObject<Omit<typeof base.shape, keyof Own> & Own>({ ...base.shape, ...fields });

/** The object that an operation answers is a command's own. */
export const whole = <Own extends Fields>(schema: z.ZodObject<Own>) => object(schema.shape);

/** The error of a command or of an operation. */
export const failure = named('Failure', errorBody.shape.error);
export const text = z.string();
export const flag = z.boolean();
export const count = z.int().min(0);
export const seq = z.int().min(0);
/** A position in a list that goes on; null at its end. */
export const nextSeq = seq.nullable();
export const nextText = text.nullable();

export const stored = z.enum(['keychain', 'file', 'local-file']);

export const message = answer('postMessage');
export const board = answer('getBoard');
export const member = answer('getMember');
export const boardPerson = answer('addBoardPerson');
export const task = answer('getTask');
export const boardFile = answer('uploadFile');
export const fileDetail = answer('getFile');
export const inbox = answer('readInbox');

const postOutcomes = ['now', 'turn_end', 'next_turn', 'not_woken', 'no_session', 'cannot_read', 'over_limit', 'person'];
const postRecipient = named(
  'PostRecipient',
  z.strictObject({
    name: text,
    presence: text.nullable(),
    delivery: text.nullable(),
    mentioned: flag,
    outcome: z.enum(postOutcomes),
  }),
);
export const postRecipients = z.array(postRecipient).nullable();
export const messages = z.array(message);
export const answeredAsk = named('AskAnswered', object({ message, ask: message }));
export const agentLine = inbox.shape.work.shape.line;
export const savedFile = named(
  'SavedFile',
  object({
    name: text,
    version: count,
    digest: text,
    size: count,
    media_type: text,
    path: text.nullable(),
    file_id: text,
  }),
);
/** What an agent asked its person for. */
export const requestedApproval = named('RequestedApproval', whole(answer('requestAdminAction')));
/** What one of several servers said, or why it said nothing. */
export const serverGroup = (fields: Fields) =>
  z.union([
    z.strictObject({ name: text, url: text, ...fields }),
    z.strictObject({ name: text, url: text, error: failure }),
  ]);
/** Who was signed in before on this machine, with the agents that do not act until they are again. */
export const replacedPerson = z.strictObject({ id: text, handle: text, agents: z.array(text) });
/** A key that came to this machine, and whose; of a key that its server did not list there is only the name. */
export const arrivedKey = {
  server_id: text,
  person: answer('setPersonRole').shape.person.partial({ display_name: true, server_role: true, created_at: true }),
  key: z
    .union([
      answer('listKeys').shape.keys.element,
      z.strictObject({ id: text, name: text, expires_at: text.nullable().optional() }),
    ])
    .nullable(),
  stored,
  default: flag,
  replaced_person: replacedPerson.optional(),
  boards: z.array(board.pick({ id: true, name: true, title: true })).optional(),
  pairing_request_id: text.nullable().optional(),
};
export const collectedKey = named('CollectedKey', object(arrivedKey));
export const agreedOnJoin = {
  charter: text,
  role_charter: text.nullable(),
  mode: member.shape.delivery_mode.unwrap().nullable(),
};
/** How a new seat is used from now on; `bound_session` is null where that is by its name. */
export const seatUse = z.strictObject({ as: text, env: text, bound_session: text.nullable() });
/** A file of ours, or a part of somebody else's. */
export const fileChange = <const Action extends string>(...actions: Action[]) =>
  z.strictObject({
    path: text,
    kind: z.enum(['skill', 'hooks', 'file', 'allow-rule', 'pre-commit', 'completion']),
    action: z.enum(actions),
    edited: z.literal(true).optional(),
  });
/** A seat as the daemon names it. */
export const seatRef = named(
  'SeatRef',
  z.strictObject({
    server: text,
    board: text,
    name: text,
    member_id: text.optional(),
    board_id: text.optional(),
  }),
);
