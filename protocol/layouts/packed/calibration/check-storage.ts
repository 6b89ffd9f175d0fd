import type { Address } from 'viem';
import type { CalibrationBlock, CalibrationChain, CalibrationPool, Finding } from '../../../calibration.ts';
import { MAX_POSITION } from '../../../pool-state.ts';
import { NO_ARRANGEMENT } from '../../../stored-layout.ts';
import { binSharesSlot } from '../../storage.ts';
import { decodeBinStates, encodeBinStates, type LensBin, lensContradiction } from './lens.ts';
import { readStorage, readWords } from './observe-swaps.ts';
import type { StoredPool } from './observed-swap.ts';

/** The name of the only known arrangement of storage: how the official lenses read pools of factory 0xA327…. */
const ARRANGEMENT = 'packedHead';
/** Pools that tell something, and those that are asked, at most. */
const MAX_POOLS = 5;
const MAX_ASKED = 50;
/** Bins that are looked at, around the cursor when a pool has more. */
const MAX_BINS = 64;

/**
 * Compares the storage of pools, as it is read, with the lens and with itself: the cursor is in the pool, and totals are the
 * sums of all bins. One funded pool tells.
 */
export async function checkStorage(
  chain: CalibrationChain,
  pools: readonly CalibrationPool[],
  lens: Address | undefined,
): Promise<Finding> {
  const block = await chain.head();
  const examples: string[] = [];
  let observations = 0;
  for (const pool of pools.slice(0, MAX_ASKED)) {
    if (observations === MAX_POOLS) break;
    const answer = await contradiction(chain, block, pool, lens);
    if (answer !== 'untold') observations += 1;
    if (answer !== 'untold' && answer !== null) examples.push(`${pool.address}@${block.number}: ${answer}`);
  }
  const contradicted = examples.length;
  const reading = { name: ARRANGEMENT, agreed: observations - contradicted, contradicted, examples };
  const decided = contradicted > 0 ? NO_ARRANGEMENT : ARRANGEMENT;
  return {
    what: 'storage',
    decided: observations === 0 ? null : decided,
    observations,
    decisive: contradicted,
    readings: [reading],
  };
}

/** Why a pool's storage is not what it is read as; null when it is, `untold` when it cannot tell: it is empty, or unread. */
async function contradiction(
  chain: CalibrationChain,
  block: CalibrationBlock,
  pool: CalibrationPool,
  lens: Address | undefined,
): Promise<string | null> {
  const top = await readStorage(chain, block, pool, []);
  if (top === null) return 'untold';
  const { cursor, binTotals } = top.head;
  if (cursor.bin < pool.lowestBin || cursor.bin > pool.highestBin || cursor.position > MAX_POSITION) {
    return `the cursor is at ${cursor.position} of bin ${cursor.bin}, outside of ${pool.lowestBin}..${pool.highestBin}`;
  }
  const bins = shownBins(pool, cursor.bin);
  const full = await readStorage(chain, block, pool, bins);
  if (full === null || binTotals.token0Scaled + binTotals.token1Scaled === 0n) return 'untold';
  const byLens = lens && (await againstLens(chain, block, pool, full, lens));
  if (byLens) return byLens;
  const isWhole = bins.length === pool.highestBin - pool.lowestBin + 1;
  return isWhole ? sumContradiction(full) : null;
}

function shownBins({ lowestBin, highestBin }: CalibrationPool, cursor: number): readonly number[] {
  const first = Math.max(lowestBin, Math.min(cursor - MAX_BINS / 2, highestBin - MAX_BINS + 1));
  const count = Math.min(MAX_BINS, highestBin - first + 1);
  return Array.from({ length: count }, (_, index) => first + index);
}

function sumContradiction({ head: { binTotals }, bins }: StoredPool): string | null {
  for (const token of ['token0Scaled', 'token1Scaled'] as const) {
    const sum = [...bins.values()].reduce((total, bin) => total + bin[token], 0n);
    if (sum !== binTotals[token]) return `${token} of all bins is ${sum}, the total ${binTotals[token]}`;
  }
  return null;
}

async function againstLens(
  chain: CalibrationChain,
  block: CalibrationBlock,
  pool: CalibrationPool,
  { bins }: StoredPool,
  lens: Address,
): Promise<string | null> {
  const numbers = [...bins.keys()];
  const [answer, words] = await Promise.all([
    chain.call(block, lens, encodeBinStates(pool.address, numbers)),
    readWords(chain, block, pool, numbers.map(binSharesSlot)),
  ]);
  const states = answer && lensBins(answer);
  if (!states || words === null) return null;
  const shares = words.map(BigInt);
  for (const [index, [bin, state]] of [...bins].entries()) {
    const [lensBin, share] = [states[index], shares[index]];
    const off = lensBin && share !== undefined ? lensContradiction(state, share, lensBin, pool.scale) : 'not answered';
    if (off !== null) return `bin ${bin}: ${off}`;
  }
  return null;
}

/** Null for a contract that is no lens: nothing follows from what it says. */
function lensBins(answer: `0x${string}`): readonly LensBin[] | null {
  try {
    return decodeBinStates(answer);
  } catch {
    return null;
  }
}
