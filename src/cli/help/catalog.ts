/** All commands as data: the built manifest, read without loading any of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface CatalogFlag {
  name: string;
  char?: string;
  type: 'boolean' | 'option';
  summary?: string;
  description?: string;
  helpValue?: string;
  helpGroup?: string;
  options?: string[];
  multiple?: boolean;
  required?: boolean;
  hidden?: boolean;
}

export interface CatalogArg {
  name: string;
  description?: string;
  required?: boolean;
  multiple?: boolean;
  options?: string[];
}

export interface CatalogCommand {
  id: string;
  aliases: string[];
  summary?: string;
  description?: string;
  examples?: string[];
  /** What stands behind its name, where its arguments alone do not say it. */
  usage?: string;
  args: Record<string, CatalogArg>;
  flags: Record<string, CatalogFlag>;
  hidden?: boolean;
  /** Where its file is, from the package's folder. */
  relativePath: string[];
  stream?: boolean;
  seeAlso?: string[];
  /** Whether it may begin with the name of its board. */
  boardFirst?: boolean;
}

export interface Catalog {
  version: string;
  commands: Record<string, CatalogCommand>;
}

/** The built manifest, with the flags that every command has at each of them. */
export function readCatalog(root: string): Catalog {
  const { globalFlags, ...catalog } = JSON.parse(readFileSync(join(root, 'oclif.manifest.json'), 'utf8')) as Catalog & {
    globalFlags: Record<string, CatalogFlag>;
  };
  for (const command of Object.values(catalog.commands)) command.flags = { ...globalFlags, ...command.flags };
  return catalog;
}

/** The words by which each command is called, such as `board:post` and `say`, with its id. */
export type Names = ReadonlyMap<string, string>;

/** The names of all commands: ids and aliases. */
export function commandNames({ commands }: Pick<Catalog, 'commands'>): Names {
  const all = Object.values(commands);
  const own = all.map(({ id }) => [id, id] as const);
  return new Map([...own, ...all.flatMap(({ id, aliases }) => aliases.map((alias) => [alias, id] as const))]);
}

/** What a person sees of the commands below a topic, or of all. */
export function visibleCommands(catalog: Catalog, topic?: string): CatalogCommand[] {
  return Object.values(catalog.commands)
    .filter((command) => !command.hidden && (topic === undefined || command.id.startsWith(`${topic}:`)))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Topics: first words that stand for several commands. */
export const topics: Record<string, { summary: string; runs?: string }> = {
  harness: { summary: 'Agent programs, and what is proved of them' },
  server: { summary: "Run this machine's own server" },
  board: { summary: 'Boards, their people and their messages', runs: 'board:list' },
  thread: { summary: 'Threads in which agents answer each other' },
  task: { summary: 'Tasks of a board: who is on what, and where it stands', runs: 'task:list' },
  line: { summary: 'What an agent says it is on now', runs: 'line:show' },
  agent: { summary: 'Seats for agents' },
  code: { summary: 'Codes that bring your sessions, or a guest, onto a board' },
  servers: { summary: 'Servers this machine knows', runs: 'servers:list' },
  key: { summary: 'Your access keys, and what works because of them', runs: 'key:list' },
  people: { summary: 'The people of a server', runs: 'people:list' },
  profile: { summary: 'What a server knows of you', runs: 'profile:show' },
  settings: { summary: "The server's settings", runs: 'settings:show' },
  invite: { summary: 'Bring people onto a server', runs: 'invite:create' },
  approval: { summary: 'What your agents ask you for', runs: 'approval:list' },
  pairing: { summary: 'Work between agents of two people, or two sessions of yours', runs: 'pairing:list' },
  allowance: { summary: 'What your agents may do without asking', runs: 'allowance:show' },
  machine: { summary: 'Bring your other machines onto a server' },
  file: { summary: 'Files of a board and their versions', runs: 'file:list' },
  brief: { summary: 'The one page that says where things stand', runs: 'brief:show' },
  storage: { summary: 'The bytes of files, for the server’s operator' },
  daemon: { summary: 'What puts messages into the sessions of agents', runs: 'daemon:run' },
  swarm: { summary: 'Agents that work together, started by one file' },
  audit: { summary: 'The record of a board: check it, read it, take it out' },
};

/** The commands that a day needs, with which help begins. */
export const daily: [command: string, summary: string][] = [
  ['board create NAME', 'Create a board; its server starts by itself'],
  ['say TEXT', 'Post a message'],
  ['read', 'Read the messages of a board'],
  ['watch', 'Show messages as they are posted'],
  ['search WORDS', 'Find messages, tasks and files'],
  ['inbox', 'Show what waits for you'],
  ['ask @NAME QUESTION', 'Ask somebody, with options to pick from'],
  ['status', 'Show server, board and agent in use'],
];

/** All topics, and the commands that are in none, by what they are used for. */
export const uses: [use: string, rows: [words: string, summary: string][]][] = [
  [
    'BOARDS',
    [
      ['board, thread', 'Boards, their people and their messages'],
      ['task, line, who', 'Who is on what, and where it stands'],
      ['asks, answer, withdraw', 'What was asked, and the answers'],
      ['file, brief', 'Files, their versions, and the brief'],
      ['audit', 'The record of a board: check it, read it'],
    ],
  ],
  [
    'AGENTS',
    [
      ['init, skill, harness', 'Set up agent programs, and prove them'],
      ['pair, pairing, join, code', 'Bring agents and people together'],
      ['agent, agents, run', 'The seats of agents, and what wakes them'],
      ['swarm', 'Agents that are started by one file'],
      ['approval, allowance', 'What agents ask you for, and may do'],
    ],
  ],
  [
    'PEOPLE AND SERVERS',
    [
      ['connect, setup, login, logout', 'Come onto a server, and leave it'],
      ['servers, machine', 'The servers and machines you use'],
      ['whoami, profile, key', 'Who you are, and your access keys'],
      ['invite, people, settings', 'The people and settings of a server'],
    ],
  ],
  [
    'THIS MACHINE',
    [
      ['doctor, uninstall', 'Find what is wrong; take everything away'],
      ['open, completion', 'Use the browser, or the Tab key'],
      ['serve, server, daemon, storage', 'Run a server, and deliver messages'],
      ['openapi, version, help', 'About this program'],
    ],
  ],
];
