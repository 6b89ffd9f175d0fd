import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, parseAbi } from 'viem';
import type { BinState } from '../../../pool-state.ts';
import { type TokenScale, toRawFloor } from '../../../scaling.ts';

/** What the official lens says of bins, one list a field: balances in raw units. */
const LENS_ABI = parseAbi([
  'function binStates(address pool, int16[] binIdxs) view returns (uint104[] token0Balances, uint104[] token1Balances, uint16[] lengthsE6, uint16[] addFeeBuysE6, uint16[] addFeeSellsE6, uint104[] totalShares)',
]);

/** A bin as the lens shows it. */
export interface LensBin extends Pick<BinState, 'lengthE6' | 'addFeeBuyE6' | 'addFeeSellE6'> {
  readonly token0: bigint;
  readonly token1: bigint;
  readonly shares: bigint;
}

/** Calldata for the lens that asks for bins of a pool. */
export function encodeBinStates(pool: Address, bins: readonly number[]): Hex {
  return encodeFunctionData({ abi: LENS_ABI, args: [pool, bins] });
}

/** @throws Error when this is no answer of the lens, or its lists are of unlike length */
export function decodeBinStates(answer: Hex): readonly LensBin[] {
  const [token0s, token1s, lengths, buys, sells, shares] = decodeFunctionResult({ abi: LENS_ABI, data: answer });
  return token0s.map((token0, index) => {
    const [token1, lengthE6] = [token1s[index], lengths[index]];
    const [addFeeBuyE6, addFeeSellE6, share] = [buys[index], sells[index], shares[index]];
    if (token1 === undefined || lengthE6 === undefined || addFeeBuyE6 === undefined) throw unlike();
    if (addFeeSellE6 === undefined || share === undefined) throw unlike();
    return { token0, token1, lengthE6, addFeeBuyE6, addFeeSellE6, shares: share };
  });
}

/** Why a bin that was read from storage, with its shares, is not what the lens shows; null when it is. */
export function lensContradiction(
  bin: BinState,
  shares: bigint,
  lens: LensBin,
  { multiplier0, multiplier1 }: TokenScale,
): string | null {
  const stored: LensBin = {
    token0: toRawFloor(bin.token0Scaled, multiplier0),
    token1: toRawFloor(bin.token1Scaled, multiplier1),
    lengthE6: bin.lengthE6,
    addFeeBuyE6: bin.addFeeBuyE6,
    addFeeSellE6: bin.addFeeSellE6,
    shares,
  };
  const names = Object.keys(stored) as (keyof LensBin)[];
  const off = names.find((name) => stored[name] !== lens[name]);
  return off === undefined ? null : `${off} ${stored[off]}, by the lens ${lens[off]}`;
}

function unlike(): Error {
  return new RangeError('the lens answered with lists of unlike length');
}
