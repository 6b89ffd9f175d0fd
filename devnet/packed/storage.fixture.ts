import { type Address, encodeAbiParameters, type Hex, keccak256, numberToHex } from 'viem';
import { extsload } from '../actions.ts';
import { mappingSlot } from '../contracts.fixture.ts';
import type { DevChain } from '../dev-chain.ts';

/** A bin's word and its shares. */
export interface PackedBin {
  readonly balance0: bigint;
  readonly balance1: bigint;
  readonly lengthE6: bigint;
  readonly addFeeBuyE6: bigint;
  readonly addFeeSellE6: bigint;
  readonly shares: bigint;
}

/** A packed pool's storage by what it means. */
export interface PackedState {
  readonly pauseLevel: bigint;
  readonly bin: bigint;
  readonly position: bigint;
  readonly distanceE6: bigint;
  readonly spreadFeeE6: bigint;
  readonly notionalFeeE8: bigint;
  readonly asymmetryX8: bigint;
  readonly total0: bigint;
  readonly total1: bigint;
  readonly notional0: bigint;
  readonly notional1: bigint;
  readonly provider: bigint;
  readonly bins: ReadonlyMap<number, PackedBin>;
}

/** Reads a pool's storage, and cuts it up as the protocol's readers know it. */
export async function readPackedState(chain: DevChain, pool: Address, bins: readonly number[]): Promise<PackedState> {
  const heads = [0n, 1n, 2n, 3n].map((slot) => numberToHex(slot, { size: 32 }));
  const binSlots = bins.flatMap((bin): Hex[] => [mappingSlot(BigInt(bin), 4n), mappingSlot(BigInt(bin), 5n)]);
  const words = (await extsload(chain, pool, [...heads, ...binSlots])).map(BigInt);
  const word = (index: number): bigint => words[index] ?? 0n;
  const head = fields(word(0), [8, 16, 104, 24, 24, 24, 16]);
  const [total0, total1] = fields(word(1), [128, 128]);
  const [notional0, notional1] = fields(word(2), [128, 128]);
  const [pauseLevel, bin, position, distanceE6, spreadFeeE6, notionalFeeE8, asymmetryX8] = head;
  return {
    pauseLevel,
    bin: BigInt.asIntN(16, bin),
    position,
    distanceE6: BigInt.asIntN(24, distanceE6),
    spreadFeeE6,
    notionalFeeE8,
    asymmetryX8,
    total0,
    total1,
    notional0,
    notional1,
    provider: word(3),
    bins: new Map(bins.map((index, n) => [index, binOf(word(4 + 2 * n), word(5 + 2 * n))])),
  };
}

/** An owner's shares of bins, of the positions with salt 0. */
export async function readPositions(
  chain: DevChain,
  pool: Address,
  owner: Address,
  bins: readonly number[],
): Promise<ReadonlyMap<number, bigint>> {
  const keyTypes = [{ type: 'address' }, { type: 'uint80' }, { type: 'int16' }] as const;
  const slots = bins.map((bin) => {
    const key = keccak256(encodeAbiParameters(keyTypes, [owner, 0n, bin]));
    return keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [key, 6n]));
  });
  const words = await extsload(chain, pool, slots);
  return new Map(bins.map((bin, index) => [bin, BigInt(words[index] ?? 0)]));
}

function binOf(word: bigint, shares: bigint): PackedBin {
  const [balance0, balance1, lengthE6, addFeeBuyE6, addFeeSellE6] = fields(word, [104, 104, 16, 16, 16]);
  return { balance0, balance1, lengthE6, addFeeBuyE6, addFeeSellE6, shares };
}

/** Fields of a word from the lowest bit, by their widths; nothing may be left above them. */
export function fields<const W extends readonly number[]>(
  word: bigint,
  widths: W,
): { -readonly [K in keyof W]: bigint } {
  let rest = word;
  const values = widths.map((width) => {
    const value = BigInt.asUintN(width, rest);
    rest >>= BigInt(width);
    return value;
  });
  if (rest !== 0n) throw new Error(`${numberToHex(word)} has bits above its fields`);
  return values as { -readonly [K in keyof W]: bigint };
}
