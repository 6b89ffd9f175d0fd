import { encodeAbiParameters, type Hex, keccak256, parseAbiParameters } from 'viem';

/** Slot of a bin in a mapping keyed by int256, kept because a keccak costs more than the rest of a decode. */
export function mappingSlots(mapping: bigint): (bin: number) => Hex {
  const known = new Map<number, Hex>();
  return (bin) => {
    const cached = known.get(bin);
    if (cached !== undefined) return cached;
    const slot = keccak256(encodeAbiParameters(parseAbiParameters('int256, uint256'), [BigInt(bin), mapping]));
    known.set(bin, slot);
    return slot;
  };
}
