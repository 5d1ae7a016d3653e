/** A logger for Knex that says nothing: what fails is thrown to whoever asked, and would only be said twice. */
export const quiet = { warn() {}, error() {}, deprecate() {}, debug() {} };
