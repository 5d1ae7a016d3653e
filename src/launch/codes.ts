/** What can go wrong with a launcher, by code. */

export const launcherCodes = [
  'invalid_request',
  'launcher_protocol_mismatch',
  'mode_unsupported',
  'already_running',
  'host_unavailable',
  'start_failed',
  'launcher_failed',
] as const;

/** Exit codes of the command that meets them: 2 where service.yaml has to change, 7 for what is there already. */
export const EXIT_OF: Record<(typeof launcherCodes)[number], number> = {
  invalid_request: 2,
  launcher_protocol_mismatch: 1,
  mode_unsupported: 2,
  already_running: 7,
  host_unavailable: 1,
  start_failed: 1,
  launcher_failed: 1,
};
