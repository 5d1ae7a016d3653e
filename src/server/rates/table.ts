/**
 * Every rate limit as data: which operations a bucket counts, over what time, and how much is too much for whom. An
 * operation that is in no row has no limit of its own.
 */
import type { OperationName } from '../../contract/operations.ts';

/** What is counted before anybody is known to have a right, or where codes could be guessed: in force on every server. */
export interface AttemptRow {
  operations: readonly OperationName[];
  /** Counted are only attempts that end in an error: in any, or in one of these codes. Checked before the attempt. */
  failures?: 'any' | readonly string[];
  /** Attempts a minute: of one client address, of one person, on the whole server. */
  address?: number;
  person?: number;
  server?: number;
}

/** What somebody who is signed in may ask for: it stops a runaway program, not a busy one. */
export interface WorkRow {
  /** `writes`: every operation that is no GET. */
  operations: readonly OperationName[] | 'writes';
  /** An hour instead of a minute. */
  hourly?: true;
  /** Only requests that stay open for news. */
  waiting?: true;
  /** Replays of a kept answer are not counted. */
  runsOnly?: true;
  /** Of a person, what is counted are their requests about the member whom the path names. */
  about?: 'member';
  /** Requests of one credential; of one person, with (`agents`) or without their agents; of one agent's seat. */
  credential?: number;
  person?: number;
  agents?: 'with their person';
  seat?: number;
}

const signIns = ['createBrowserSession', 'createBrowserToken', 'previewLoginCode'] as const;
const codes = ['lookUpMachineRequest', 'approveMachineRequest', 'refuseMachineRequest'] as const;

export const attempts = {
  join: { operations: ['joinBoard'], address: 600 },
  join_code_failures: {
    operations: ['joinBoard'],
    failures: ['join_code_invalid', 'join_code_not_yours', 'guest_code_not_for_members'],
    person: 20,
  },
  redeem: { operations: ['connectPerson', 'joinAsGuest', 'previewInvite'], address: 10, server: 60 },
  sign_in_attempts: { operations: signIns, address: 120, server: 600 },
  sign_in_failures: { operations: signIns, failures: 'any', address: 20, server: 100 },
  machine_requests: { operations: ['createMachineRequest'], address: 10, server: 60 },
  machine_codes: { operations: codes, address: 10, person: 10, server: 60 },
  machine_collect: { operations: ['collectMachineKey'], address: 60, server: 600 },
} as const satisfies Record<string, AttemptRow>;

/** Requests of one address a minute whose credential does not work, whatever they ask for. */
export const BAD_CREDENTIALS = 120;

export const work = {
  writes: { operations: 'writes', credential: 600 },
  reads: {
    operations: [
      'listMessages',
      'getMessage',
      'getMessageBySeq',
      'listReplies',
      'listThreads',
      'listReactions',
      'listReceipts',
      'listEvents',
      'readInbox',
    ],
    credential: 1200,
  },
  search: { operations: ['search'], credential: 60 },
  waits: { operations: ['openStream', 'readInbox', 'listReplies'], waiting: true, credential: 120 },
  posts: { operations: ['postMessage'], runsOnly: true, seat: 60, person: 120 },
  reactions: { operations: ['addReaction', 'removeReaction'], seat: 60, person: 60 },
  acks: { operations: ['ackInbox', 'ackBoard'], credential: 300 },
  uploads: { operations: ['uploadFile'], credential: 120 },
  join: { operations: ['joinBoard'], person: 60 },
  join_codes: { operations: ['createJoinCode'], person: 60, agents: 'with their person' },
  login_codes: { operations: ['createLoginCode'], person: 30 },
  board_creation: { operations: ['createBoard', 'createDelegatedBoard'], hourly: true, person: 60 },
  task_and_file_writes: {
    operations: [
      'createTask',
      'updateTask',
      'startTask',
      'joinTask',
      'finishTask',
      'dropTask',
      'updateFile',
      'removeFile',
      'approveFile',
      'unapproveFile',
    ],
    credential: 120,
  },
  lines: { operations: ['setMyLine', 'setAgentLine'], about: 'member', seat: 30, person: 30 },
  admin_requests: { operations: ['requestAdminAction'], hourly: true, seat: 30 },
  admin_requests_of_person: {
    operations: ['requestAdminAction'],
    hourly: true,
    person: 60,
    agents: 'with their person',
  },
  decisions: { operations: ['allowApproval', 'declineApproval'], person: 120 },
  collections: { operations: ['collectApproval'], seat: 30 },
  pairing_requests: { operations: ['createPairingRequest'], hourly: true, person: 20, agents: 'with their person' },
  pairing_choices: { operations: ['choosePairingAgent'], hourly: true, person: 20 },
  pairing_endpoints: { operations: ['selectPairingEndpoint'], credential: 60 },
  pairing_proofs: { operations: ['acceptPairing', 'verifyPairing'], credential: 30 },
  presence: { operations: ['setPresence'], seat: 60 },
} as const satisfies Record<string, WorkRow>;

export type BucketName = keyof typeof attempts | keyof typeof work | 'bad_credentials';
