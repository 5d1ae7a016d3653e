/** A refusal of the daemon, which a client prints as it is. */
export class ControlRefusal extends Error {
  readonly code: string;
  readonly hint: string;
  readonly details: Record<string, unknown> | undefined;

  constructor(code: string, message: string, options: { hint?: string; details?: Record<string, unknown> } = {}) {
    super(message);
    this.name = 'ControlRefusal';
    this.code = code;
    this.hint = options.hint ?? '';
    this.details = options.details;
  }
}
