/** The error codes of launchers, with the command's exit codes: 2 if service.yaml has to change, 7 for a conflict. */
export const EXIT_OF = {
  invalid_request: 2,
  launcher_protocol_mismatch: 1,
  mode_unsupported: 2,
  already_running: 7,
  host_unavailable: 1,
  start_failed: 1,
  launcher_failed: 1,
};

export const launcherCodes = Object.keys(EXIT_OF) as (keyof typeof EXIT_OF)[];
