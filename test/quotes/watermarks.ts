import { type Address, encodeAbiParameters, type Hex, keccak256, numberToHex, parseAbiParameters } from 'viem';
import type { DevChain } from '../../devnet/dev-chain.ts';

const WIDTH = 104n;
const MAX = (1n << WIDTH) - 1n;
const BASES = Array.from({ length: 12 }, (_, index) => BigInt(index));
const ADDRESS_KEY = parseAbiParameters('address, uint256');
const BIN_KEY = parseAbiParameters('int256, bytes32');

const slotOf = (base: bigint, pool: Address, bin: number): Hex =>
  keccak256(encodeAbiParameters(BIN_KEY, [BigInt(bin), keccak256(encodeAbiParameters(ADDRESS_KEY, [pool, base]))]));

/**
 * Multiplies both watermarks that a stop loss of the devnet keeps of a bin. A bin that no swap has touched has none.
 *
 * @param partsE6 in millionths
 */
export async function scaleWatermarks(
  { client }: DevChain,
  stopLoss: Address,
  pool: Address,
  bin: number,
  partsE6: number,
): Promise<void> {
  for (const base of BASES) {
    const slot = slotOf(base, pool, bin);
    const word = BigInt((await client.getStorageAt({ address: stopLoss, slot })) ?? '0x0');
    if (word === 0n) continue;
    const scaled = (mark: bigint) => (mark * BigInt(partsE6)) / 1_000_000n;
    const [token0, token1] = [scaled(word & MAX), scaled((word >> WIDTH) & MAX)];
    const value = ((word >> (2n * WIDTH)) << (2n * WIDTH)) | (token1 << WIDTH) | token0;
    await client.setStorageAt({ address: stopLoss, index: slot, value: numberToHex(value, { size: 32 }) });
  }
}
