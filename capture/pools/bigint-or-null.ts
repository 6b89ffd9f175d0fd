/** Postgres sends int8 and numeric as text. */
export function bigintOrNull(text: string | null): bigint | null {
  return text === null ? null : BigInt(text);
}
