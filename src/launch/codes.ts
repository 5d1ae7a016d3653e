/** The error codes of launchers. */

export const launcherCodes = [
  'invalid_request',
  'launcher_protocol_mismatch',
  'mode_unsupported',
  'already_running',
  'host_unavailable',
  'start_failed',
  'launcher_failed',
] as const;

/** Exit codes of the command for these errors: 2 if service.yaml has to change, 7 for a conflict. */
export const EXIT_OF: Record<(typeof launcherCodes)[number], number> = {
  invalid_request: 2,
  launcher_protocol_mismatch: 1,
  mode_unsupported: 2,
  already_running: 7,
  host_unavailable: 1,
  start_failed: 1,
  launcher_failed: 1,
};
