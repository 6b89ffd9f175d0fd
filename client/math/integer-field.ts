/** A body lacks a field that the arithmetic reads: the service may be older than this client. */
export class MissingFieldError extends TypeError {
  override readonly name = 'MissingFieldError';
  /** The missing field, such as `cumulativeInputVolume`. */
  readonly field: string;

  constructor(field: string) {
    super(`${field} is missing: the service may be older than this client`);
    this.field = field;
  }
}

/** Reads an integer of a body, which a service may have left out whatever its type says. @throws MissingFieldError */
export function integerField(field: string, value: string | bigint | null | undefined): bigint {
  if (value === undefined || value === null) throw new MissingFieldError(field);
  return BigInt(value);
}
