/** Maps errors to exit codes: by the error's code first, then by the HTTP status. */

export const EXIT = {
  done: 0,
  other: 1,
  usage: 2,
  checkFailed: 3,
  notSignedIn: 4,
  refused: 5,
  notThere: 6,
  conflict: 7,
  noAnswer: 8,
  /** Done, and the result could not be shown: never a reason to do it again. */
  outputLost: 9,
  interrupted: 130,
  terminated: 143,
} as const;

const byCode: Record<string, number> = {
  confirmation_required: EXIT.usage,
  body_empty: EXIT.usage,
  agent_on_another_server: EXIT.usage,
  check_failed: EXIT.checkFailed,
  output_lost: EXIT.outputLost,
  login_required: EXIT.notSignedIn,
  key_invalid: EXIT.notSignedIn,
  agent_removed: EXIT.notSignedIn,
  human_command_in_session: EXIT.refused,
  subagent_without_seat: EXIT.refused,
  idempotency_conflict: EXIT.conflict,
  server_unreachable: EXIT.noAnswer,
  server_not_running: EXIT.noAnswer,
  request_timeout: EXIT.noAnswer,
  outcome_unknown: EXIT.noAnswer,
};

/** The exit code of an error; `status` is the answer's, where a server answered. */
export function exitCode(code: string, status?: number): number {
  const known = byCode[code];
  if (known !== undefined) return known;
  if (/_(not_selected|ambiguous)$/.test(code)) return EXIT.usage;
  if (code.startsWith('keychain_')) return EXIT.notSignedIn;
  if (status === undefined) return EXIT.other;
  return byStatus(status);
}

function byStatus(status: number): number {
  if (status === 401) return EXIT.notSignedIn;
  if (status === 403) return EXIT.refused;
  if (status === 404) return EXIT.notThere;
  if (status === 409) return EXIT.conflict;
  if (status === 408 || status === 429 || (status >= 500 && status !== 507)) return EXIT.noAnswer;
  return EXIT.other;
}
