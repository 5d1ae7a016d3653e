/** Why a server does not start. Its message names what is wrong and its hint what to do; it becomes exit code 1. */
type ServeErrorCode =
  | 'address_in_use'
  | 'address_unusable'
  | 'already_running'
  | 'data_newer'
  | 'data_older'
  | 'data_unsafe'
  | 'key_file_differs'
  | 'local_file_exists'
  | 'person_not_found'
  | 'root_key_mismatch'
  | 'server_admin_required'
  | 'storage_differs'
  | 'storage_full'
  | 'storage_unsupported'
  | 'storage_unreachable';

export class ServeError extends Error {
  override readonly name = 'ServeError';
  readonly code: ServeErrorCode;
  readonly hint: string;
  constructor(code: ServeErrorCode, message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** The server's place cannot be used as it is. */
export const unreachable = (message: string, hint: string): ServeError =>
  new ServeError('storage_unreachable', message, hint);
