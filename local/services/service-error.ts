/**
 * A service did not come up, or ended by itself. The message is one line;
 * `log` holds the end of what the service printed.
 */
export class ServiceError extends Error {
  readonly code = 'SERVICE';
  override readonly name = 'ServiceError';
  readonly log: string;
  /** Of a service that ended while it started. */
  readonly exitCode: number | null;

  constructor(message: string, log = '', options: ErrorOptions & { readonly exitCode?: number | null } = {}) {
    super(message, options);
    this.log = log;
    this.exitCode = options.exitCode ?? null;
  }

  /** Another process took the port between the choice of it and the bind. */
  get portTaken(): boolean {
    return /address already in use|EADDRINUSE/i.test(this.log);
  }
}

/** What the output of a process that ended shows of its reason, to be added to how it ended. */
export const reasonOfEnd = (output: string): string =>
  /No space left on device|ENOSPC/.test(output) ? ': no space left on the disk' : '';
