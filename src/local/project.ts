/** `.service` in a project: which server and board its folder belongs to. Never a secret, never an agent. */
import { unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { patterns } from '../contract/ids.ts';
import { Failure } from './failure.ts';
import { parseJsonObject } from './json.ts';
import { writePrivate } from './private-file.ts';
import { type Found, findUpward, unsafe } from './upward.ts';

/** Fields are parsed when they are needed, so that an invalid one breaks nothing else. */
export interface ProjectFile {
  readonly path: string;
  /** Whether this user wrote it, or root. */
  readonly own: boolean;
  /** @throws Failure `project_unsafe`, `config_corrupt` */
  readonly server: string;
  /** @throws Failure `project_unsafe`, `config_corrupt` */
  readonly board: string;
}

const NAME = '.service';
const MAX_BYTES = 64 * 1024;

/** The first `.service` from this folder upward, ending at the root of a repository, the home folder or the root. */
export function findProject(): ProjectFile | null {
  const found = findUpward(NAME, MAX_BYTES);
  if (!found) return null;
  return {
    path: found.path,
    own: found.own,
    get server() {
      return trustedContent(found).server;
    },
    get board() {
      return trustedContent(found).board;
    },
  };
}

/** The parsed content; null if it cannot be used. */
export function projectContent(project: ProjectFile | null): { server: string; board: string } | null {
  try {
    return project && { server: project.server, board: project.board };
  } catch {
    return null;
  }
}

/** Links a folder to a board. */
export function writeProject(folder: string, server: string, board: string): string {
  const path = join(folder, NAME);
  writePrivate(path, `${JSON.stringify({ server, board }, null, 2)}\n`, 0o644);
  return path;
}

/** Removes the link. @throws Failure `project_unsafe` for a file of another user */
export function removeProject({ path, own }: ProjectFile): void {
  if (!own) throw foreignFile(path, null);
  unlinkSync(path);
}

function trustedContent({ path, bytes, own }: Found): { server: string; board: string } {
  const said = parsed(bytes);
  if (!own) throw foreignFile(path, said);
  if (said) return said;
  throw new Failure('config_corrupt', `${path} is not a project file of this program; it was left as it is.`, {
    hint: `It looks like {"server": "https://team.example.com", "board": "general"}`,
  });
}

/** The decoder leaves out a byte order mark, which editors on Windows write. */
function parsed(bytes: Buffer): { server: string; board: string } | null {
  const { server, board } = parseJsonObject(new TextDecoder().decode(bytes)) ?? {};
  return typeof server === 'string' && typeof board === 'string' ? { server, board } : null;
}

/** Without this check, anyone who can write to a parent folder could redirect messages to their own board. */
function foreignFile(path: string, said: { server: string; board: string } | null): Failure {
  // Its content becomes part of a command to run only if it is a valid board and server name.
  const plain = said && patterns.boardName.test(said.board) && /^[a-z0-9][a-z0-9.:/-]{0,200}$/.test(said.server);
  if (!plain) return unsafe(path, 'Link this folder yourself: service board link NAME');
  const accept = `service board link ${said.board} --server ${said.server}`;
  return unsafe(path, `To accept what it says: ${accept}`, accept);
}
