/** Which messages cite which versions, and what was said since a version, as readers may know it. */
import { anyRow } from '../db/query.ts';
import { insertInto } from '../db/rows.ts';
import type { ReadTx } from '../db/tx.ts';
import { type MessageReader, readable } from '../messages/readable.rules.ts';

type AttachmentRow = Record<'message_id' | 'file_id' | 'board_id', string> & Record<'n' | 'version' | 'seq', number>;

export const insertAttachments = insertInto<AttachmentRow>('message_files');

export const isCited = (tx: ReadTx, fileId: string, version: number): Promise<boolean> =>
  anyRow(tx, (db) => db('message_files').where({ file_id: fileId, version }).limit(1).select('message_id'));

/** Readable messages that cite a file after a number, oldest first. */
export const postsOf = (tx: ReadTx, fileId: string, reader: MessageReader, after: number, limit: number) =>
  tx.query<{ message_id: string; seq: number; version: number; thread_root_seq: number | null }>((db) =>
    readable(
      db({ a: 'message_files' })
        .join({ m: 'messages' }, 'm.id', 'a.message_id')
        .where('a.file_id', fileId)
        .where('a.seq', '>', after)
        .orderBy('a.seq')
        .orderBy('a.n')
        .limit(limit)
        .select({ message_id: 'a.message_id', seq: 'a.seq', version: 'a.version', thread_root_seq: 'm.root_seq' }),
      reader,
    ),
  );

/** Readable messages of a board after the latest version of each of these files, for readers who may not read all. */
export const readableSince = (tx: ReadTx, boardId: string, fileIds: string[], reader: MessageReader) =>
  tx.query<{ file_id: string; messages: number; answers: number }>((db) =>
    readable(
      db({ f: 'files' })
        .join({ v: 'file_versions' }, (on) => on.on('v.file_id', 'f.id').andOn('v.version', 'f.latest'))
        .join({ m: 'messages' }, (on) => on.on('m.board_id', 'f.board_id').andOn('m.seq', '>', 'v.seq'))
        .where('f.board_id', boardId)
        .whereIn('f.id', fileIds)
        .groupBy('f.id')
        .select({ file_id: 'f.id' })
        .count({ messages: '*' })
        .sum({ answers: 'm.answers' }),
      reader,
    ),
  );
