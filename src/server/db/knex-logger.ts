/** A logger for Knex that prints nothing: errors are thrown to the caller, and would only be reported twice. */
export const quiet = { warn() {}, error() {}, deprecate() {}, debug() {} };
