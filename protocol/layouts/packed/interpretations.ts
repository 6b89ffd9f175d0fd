/** A swap's `details` by one interpretation. */
export interface SwapDetails {
  readonly zeroForOne: boolean;
  readonly exactInput: boolean;
  /** Cursor after the swap. */
  readonly bin: number;
  readonly position: bigint;
}

/**
 * Where `details` of a `Swap` may hold the fields of the flat event: flags in the lowest byte, or above position and
 * bin. Each number is the lowest bit of the field.
 */
export const DETAILS = {
  flagsFirst: { flags: 0n, bin: 8n, position: 24n },
  positionFirst: { flags: 120n, bin: 104n, position: 0n },
} as const;

export type Details = keyof typeof DETAILS;

/** A swap's `details` as an interpretation reads them. */
export function readDetails(name: Details, details: bigint): SwapDetails {
  const { flags, bin, position } = DETAILS[name];
  return {
    zeroForOne: ((details >> flags) & 1n) === 1n,
    exactInput: ((details >> flags) & 2n) === 2n,
    bin: Number(BigInt.asIntN(16, details >> bin)),
    position: BigInt.asUintN(104, details >> position),
  };
}
