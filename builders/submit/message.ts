/** Fields that are bigint in memory and decimal strings in JSON, so that no JSON parser on the way rounds them. */
const BIGINT_FIELDS: ReadonlySet<string> = new Set([
  'blockNumber',
  'replacementSeqNumber',
  'maxTimestamp',
  'timestampNs',
]);

/** JSON of a submission or an answer, as it goes through Redis. */
export function encodeMessage(value: object): string {
  return JSON.stringify(value, (_, field) => (typeof field === 'bigint' ? field.toString() : field));
}

/** Reads what {@link encodeMessage} wrote. */
export function decodeMessage<T>(text: string): T {
  return JSON.parse(text, (key, field) => (BIGINT_FIELDS.has(key) && field !== null ? BigInt(field) : field)) as T;
}
