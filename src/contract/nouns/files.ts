/** Files, their versions and approvals, and the brief. */
import { z } from 'zod';
import { filePathPattern, idPattern, isBriefPath } from '../ids.ts';
import { byMember, byPerson, del, get, type OperationRow, patch, post, put } from '../operation.ts';
import { actor, boardName, digest, id, queryBool, queryInt, seq, time } from '../schemas.ts';
import { taskRef, taskSelector } from './tasks.ts';

export { MAX_FILE } from '../values.ts';

const MAX_PATH = 200;

const fileId = idPattern('fil');

/** The path of a file on its board. A path cannot look like an id, so a name is never ambiguous. */
export const filePath = z
  .string()
  .max(MAX_PATH)
  .regex(filePathPattern, 'must be a path such as notes/api.md, of letters, digits, dots, hyphens and underscores')
  .refine((value) => !fileId.test(value), 'must not look like the id of a file');

/** A file as somebody names it: its path or its id. */
export const fileSelector = z.string().max(MAX_PATH).regex(filePathPattern, 'must be the path or the id of a file');

export const fileVersion = z.strictObject({
  version: z.int().min(1),
  digest,
  size: z.int().min(0),
  media_type: z.string(),
  by: actor,
  at: time,
  seq: z.int().min(1),
  base: z.int().min(0),
});

export const fileApproval = z.strictObject({
  person: actor,
  version: z.int().min(1),
  digest,
  at: time,
  changes_since: z.int().min(0),
});

export const freshness = z.strictObject({
  messages_since: z.int().min(0),
  tasks_done_since: z.int().min(0),
  answers_since: z.int().min(0),
});

export const boardFile = z.strictObject({
  id: id('fil'),
  name: z.string(),
  board: boardName,
  maintained: z.boolean(),
  about: z.array(taskRef),
  latest: fileVersion,
  approvals: z.array(fileApproval),
  mine: fileApproval.nullable(),
  freshness,
  removed_at: time.nullable(),
});

export const postedIn = z.strictObject({
  message_id: id('msg'),
  seq,
  version: z.int().min(1),
  thread_root_seq: z.int().min(1).nullable(),
});

export const fileDetail = boardFile.extend({
  versions: z.array(fileVersion),
  versions_more: z.boolean(),
  posted_in: z.array(postedIn),
  posted_in_more: z.boolean(),
});

/** What `Board.brief` holds. */
export const brief = z.strictObject({
  name: z.enum(['brief.md', 'brief.html']),
  file_id: id('fil'),
  version: z.int().min(1),
  by: actor,
  at: time,
  size: z.int().min(0),
  digest,
  freshness,
});

const page = { limit: queryInt(1, 200).default(50), after: z.string().max(400).optional() };

export const listFilesQuery = z.object({
  task: taskSelector.optional(),
  mine: queryBool.default(false),
  maintained: queryBool.optional(),
  ...page,
});
export const fileList = z.strictObject({
  board: boardName,
  files: z.array(boardFile),
  next_after: z.string().nullable(),
});

export const listFileVersionsQuery = z.object(page);
export const fileVersionList = z.strictObject({
  file_id: id('fil'),
  versions: z.array(fileVersion),
  next_after: z.string().nullable(),
});

export const listFilePostsQuery = z.object({ limit: page.limit, after: queryInt(0).default(0) });
export const filePostList = z.strictObject({
  file_id: id('fil'),
  posted_in: z.array(postedIn),
  next_after: z.int().nullable(),
});

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const parameter = `[ \\t]*;[ \\t]*${token}=(?:${token}|"[ !#-\\[\\]-~]*")`;

/** Type and subtype with optional parameters; type and subtype become lower case, the rest stays as sent. */
const mediaType = z
  .string()
  .max(100)
  .regex(new RegExp(`^${token}/${token}(?:${parameter})*$`), 'must be a media type such as text/plain')
  .transform((value) => {
    const [essence = ''] = value.split(';', 1);
    return essence.toLowerCase() + value.slice(essence.length);
  });

/** One empty value clears the list. */
const aboutParameter = z
  .array(z.string().refine((value) => value === '' || taskSelector.safeParse(value).success, 'must name a task'))
  .max(8)
  .refine((list) => list.length === 1 || !list.includes(''), 'is either one empty value or tasks')
  .transform((list) => list.filter((value) => value !== ''));

export const uploadFileQuery = z
  .object({
    name: filePath,
    base: queryInt(0).default(0),
    file_id: id('fil').optional(),
    brief: queryBool.default(false),
    replace_format: queryBool.default(false),
    maintained: queryBool.optional(),
    about: aboutParameter.optional(),
    media_type: mediaType.optional(),
  })
  .refine(({ name, brief }) => !brief || isBriefPath(name), {
    message: 'must be brief.md or brief.html for the brief',
    path: ['name'],
  })
  .refine(({ replace_format, brief }) => !replace_format || brief, {
    message: 'goes with brief',
    path: ['replace_format'],
  });

export const updateFileBody = z
  .strictObject({
    name: filePath.optional(),
    maintained: z.boolean().optional(),
    about: z.array(taskSelector).max(8).optional(),
  })
  .refine((body) => Object.keys(body).length > 0, 'must change something');

export const removeFileQuery = z.object({ base: queryInt(1).optional() });

export const approveFileBody = z.strictObject({ version: z.int().min(1) });

export const fileParam = z.object({ file: fileSelector });
export const fileVersionParams = z.object({
  file: fileSelector,
  version: z.string().regex(/^([1-9][0-9]{0,8}|latest)$/, 'must be a number or "latest"'),
});

/** A file version as a message cites it, for good. */
export const fileRef = z.strictObject({ id: id('fil'), name: z.string(), version: z.int().min(1), digest });

/** A file as a post names it; without a version the latest. */
export const fileToAttach = z.strictObject({ file: fileSelector, version: z.int().min(1).optional() });

/** Of what changes a file, but for its bytes. */
const ofFile = { archived: 'refused', rates: ['task_and_file_writes'], params: fileParam, answer: boardFile } as const;

export const about = 'Files of a board and their versions.';

export const operations = {
  listFiles: {
    ...get('/v1/boards/{board}/files', byMember, 'List the files of a board'),
    query: listFilesQuery,
    errors: ['not_on_board', 'task_not_found'],
    answer: fileList,
  },
  uploadFile: {
    ...post('/v1/boards/{board}/files', byMember, 'Add a file, or a version of one over the version it replaces'),
    description:
      'The body is the file. `base` is the newest version that the sender has seen, 0 for a file that is new; where there is a newer one, nothing is stored.',
    kind: 'upload',
    ok: [201],
    archived: 'refused',
    rates: ['uploads'],
    query: uploadFileQuery,
    errors: [
      'not_on_board',
      'task_not_found',
      'file_exists',
      'file_changed',
      'brief_exists',
      'brief_path_reserved',
      'file_too_large',
      'file_has_secret',
    ],
    answer: boardFile,
  },
  getFile: {
    ...get('/v1/boards/{board}/files/{file}', byMember, 'Read what is known of a file'),
    params: fileParam,
    errors: ['not_on_board', 'file_not_found'],
    answer: fileDetail,
  },
  updateFile: {
    ...patch('/v1/boards/{board}/files/{file}', byMember, 'Rename a file, or say what it is for'),
    ...ofFile,
    body: updateFileBody,
    errors: ['not_on_board', 'task_not_found', 'file_not_found', 'file_name_taken', 'brief_path_reserved'],
  },
  removeFile: {
    ...del('/v1/boards/{board}/files/{file}', byMember, 'Take a file off a board; its versions stay readable by id'),
    ...ofFile,
    query: removeFileQuery,
    errors: ['not_on_board', 'file_not_found', 'file_changed'],
  },
  listFileVersions: {
    ...get('/v1/boards/{board}/files/{file}/versions', byMember, 'List the versions of a file'),
    params: fileParam,
    query: listFileVersionsQuery,
    errors: ['not_on_board', 'file_not_found'],
    answer: fileVersionList,
  },
  downloadFile: {
    ...get('/v1/boards/{board}/files/{file}/versions/{version}', byMember, 'Read the bytes of a version'),
    description: 'Takes Range, If-Range and If-None-Match.',
    kind: 'download',
    ok: [200, 206, 304],
    params: fileVersionParams,
    errors: ['not_on_board', 'file_not_found', 'version_not_found', 'range_not_satisfiable'],
    answer: z.string(),
  },
  listFilePosts: {
    ...get('/v1/boards/{board}/files/{file}/posts', byMember, 'List the messages a file is attached to'),
    params: fileParam,
    query: listFilePostsQuery,
    errors: ['not_on_board', 'file_not_found'],
    answer: filePostList,
  },
  approveFile: {
    ...put('/v1/boards/{board}/files/{file}/approval', byPerson, 'Approve a version of a file'),
    ...ofFile,
    body: approveFileBody,
    errors: ['not_on_board', 'file_not_found', 'version_not_found'],
  },
  unapproveFile: {
    ...del('/v1/boards/{board}/files/{file}/approval', byPerson, 'Take an approval back'),
    ...ofFile,
    errors: ['not_on_board', 'file_not_found'],
  },
} as const satisfies Record<string, OperationRow>;
