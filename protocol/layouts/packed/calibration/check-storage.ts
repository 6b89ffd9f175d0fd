import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, parseAbi } from 'viem';
import type { CalibrationBlock, CalibrationChain, CalibrationPool, Finding } from '../../../calibration.ts';
import { type BinState, MAX_POSITION } from '../../../pool-state.ts';
import { type TokenScale, toRawFloor } from '../../../scaling.ts';
import { NO_ARRANGEMENT, STORAGE } from '../../../stored-layout.ts';
import { binSharesSlot, binSlot, decodeBin } from '../../storage.ts';
import { readHeadAt, readWords } from './observe-swaps.ts';

/** The name of the only known arrangement of storage: how the official lenses read pools of factory 0xA327…. */
export const ARRANGEMENT = 'packedHead';
/** Observations that are enough, and most pools that are asked for one. */
const MAX_POOLS = 5;
const MAX_PROBED = 50;
/** Most bins of a pool that are compared: those around the cursor. */
const MAX_BINS = 64;

/** The official lens returns bins as one list for each field; balances are in raw units. */
const LENS_ABI = parseAbi([
  'function binStates(address pool, int16[] binIdxs) view returns (uint104[] token0Balances, uint104[] token1Balances, uint16[] lengthsE6, uint16[] addFeeBuysE6, uint16[] addFeeSellsE6, uint104[] totalShares)',
]);

/**
 * Checks whether pools arrange their storage as we read it. It has to agree with the lens, the cursor has to lie in the
 * pool, and totals have to be the sums of all bins. One funded pool is enough to decide.
 */
export async function checkStorage(
  chain: CalibrationChain,
  pools: readonly CalibrationPool[],
  lens: Address | undefined,
): Promise<Finding> {
  const block = await chain.head();
  const examples: string[] = [];
  let observations = 0;
  for (const pool of pools.slice(0, MAX_PROBED)) {
    if (observations === MAX_POOLS) break;
    const isExplained = await explainsPool(chain, block, pool, lens);
    if (isExplained !== null) observations += 1;
    if (isExplained === false) examples.push(`${pool.address}@${block.number}`);
  }
  const contradicted = examples.length;
  const decided = contradicted > 0 ? NO_ARRANGEMENT : ARRANGEMENT;
  return {
    what: STORAGE,
    decided: observations === 0 ? null : decided,
    observations,
    decisive: contradicted,
    interpretations: [{ name: ARRANGEMENT, agreed: observations - contradicted, contradicted, examples }],
  };
}

/** Whether a pool arranges its storage as we read it; null when nothing shows it: the pool is empty or unreadable. */
async function explainsPool(
  chain: CalibrationChain,
  block: CalibrationBlock,
  pool: CalibrationPool,
  lens: Address | undefined,
): Promise<boolean | null> {
  const head = await readHeadAt(chain, block, pool);
  if (head === null) return null;
  const { cursor, binTotals } = head;
  const { lowestBin, highestBin } = pool;
  if (cursor.bin < lowestBin || cursor.bin > highestBin || cursor.position > MAX_POSITION) return false;
  const first = Math.max(lowestBin, Math.min(cursor.bin - MAX_BINS / 2, highestBin - MAX_BINS + 1));
  const count = Math.min(MAX_BINS, highestBin - first + 1);
  const numbers = Array.from({ length: count }, (_, index) => first + index);
  const words = await readWords(chain, block, pool, [...numbers.map(binSlot), ...numbers.map(binSharesSlot)]);
  if (words === null || binTotals.token0Scaled + binTotals.token1Scaled === 0n) return null;
  const bins = words.slice(0, count).map(decodeBin);
  const shown = lens && (await chain.call(block, lens, encodeBinStates(pool.address, numbers)));
  if (shown && !isAsShown(bins, words.slice(count).map(BigInt), shown, pool.scale)) return false;
  const sum = (token: 'token0Scaled' | 'token1Scaled') => bins.reduce((total, bin) => total + bin[token], 0n);
  const isWhole = count === highestBin - lowestBin + 1;
  return !isWhole || (['token0Scaled', 'token1Scaled'] as const).every((token) => sum(token) === binTotals[token]);
}

/** Calldata for the lens that asks for bins of a pool. */
export const encodeBinStates = (pool: Address, bins: readonly number[]): Hex =>
  encodeFunctionData({ abi: LENS_ABI, args: [pool, bins] });

/** Whether the lens answered the same bins and shares. True for a contract that is not a lens, which shows nothing. */
export function isAsShown(
  bins: readonly BinState[],
  shares: readonly bigint[],
  answer: Hex,
  { multiplier0, multiplier1 }: TokenScale,
): boolean {
  const lists = decodeBinStates(answer);
  if (lists === null) return true;
  return bins.every((bin, index) => {
    const balances = [toRawFloor(bin.token0Scaled, multiplier0), toRawFloor(bin.token1Scaled, multiplier1)];
    const stored = [...balances, bin.lengthE6, bin.addFeeBuyE6, bin.addFeeSellE6, shares[index]];
    return lists.every((list, field) => list[index] === stored[field]);
  });
}

function decodeBinStates(data: Hex) {
  try {
    return decodeFunctionResult({ abi: LENS_ABI, data });
  } catch {
    return null;
  }
}
