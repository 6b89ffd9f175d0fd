/** A sum, or null while what it begins with is unknown. */
export function addIfKnown(amount: bigint | null, change: bigint): bigint | null {
  return amount === null ? null : amount + change;
}
