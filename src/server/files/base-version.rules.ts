/** What becomes of a write, by what is there and what the writer believes is there. */
import type { ErrorCode } from '../../contract/errors.ts';
import { isBriefPath } from '../../contract/ids.ts';

/** A live file as far as it decides. */
interface Present {
  id: string;
  name: string;
  /** Its latest version. */
  latest: number;
}

interface Preconditions {
  name: string;
  base: number;
  file_id?: string | undefined;
  brief: boolean;
  replace_format: boolean;
}

type Decision =
  | { do: 'create' }
  | { do: 'version' }
  /** The brief in its other format goes, and this file comes as the brief. */
  | { do: 'switch' }
  | ({ do: 'refuse' } & Refused);

/** With what is there now; undefined: nothing is. */
export interface Refused {
  code: Extract<ErrorCode, 'file_exists' | 'file_changed' | 'brief_exists' | 'brief_path_reserved'>;
  now?: Present | undefined;
  /** It was to be taken off, not written. */
  removing?: true;
}

/** @param atName the live file at this path. @param brief the live brief of the board, in either format. */
export function decideWrite(wanted: Preconditions, atName: Present | undefined, brief: Present | undefined): Decision {
  if (wanted.brief) return decideBrief(wanted, brief);
  if (isBriefPath(wanted.name)) return { do: 'refuse', code: 'brief_path_reserved', now: brief };
  const { base, file_id } = wanted;
  if (!atName) return decideNew(wanted);
  const meant = file_id === undefined || file_id === atName.id;
  if (base === 0 && meant) return { do: 'refuse', code: 'file_exists', now: atName };
  if (base === atName.latest && meant) return { do: 'version' };
  return { do: 'refuse', code: 'file_changed', now: atName };
}

/** Replacing a brief requires both its id and its latest version. */
function decideBrief(wanted: Preconditions, brief: Present | undefined): Decision {
  if (!brief) return decideNew(wanted);
  const { name, base, file_id, replace_format } = wanted;
  const same = brief.name === name;
  if (!same && !replace_format) return { do: 'refuse', code: 'brief_exists', now: brief };
  if (file_id !== brief.id || base !== brief.latest) return { do: 'refuse', code: 'file_changed', now: brief };
  return { do: same ? 'version' : 'switch' };
}

/** Where nothing is. */
const decideNew = ({ base, file_id }: Preconditions): Decision =>
  base === 0 && file_id === undefined ? { do: 'create' } : { do: 'refuse', code: 'file_changed' };
