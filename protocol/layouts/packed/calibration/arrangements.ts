import type { Address } from 'viem';
import type { CalibrationBlock, CalibrationChain, CalibrationPool, Finding } from '../../../calibration.ts';
import { MAX_POSITION } from '../../../pool-state.ts';
import { NO_ARRANGEMENT } from '../../../stored-layout.ts';
import { STORAGE_ARRANGEMENTS } from '../candidates.ts';
import { type PackedStorage, packedStorage } from '../storage.ts';
import { decodeBinStates, encodeBinStates, type LensBin, lensContradiction } from './lens.ts';
import type { PoolStorage } from './observed-swap.ts';
import { readStorage, readWords } from './read-storage.ts';

/** Pools that tell something, and those that are asked, at most. */
const MOST_POOLS = 5;
const MOST_ASKED = 50;
/** Bins that are looked at, around the cursor when a pool has more. */
const MOST_BINS = 64;

/**
 * Holds arrangements of storage against the lens, and against themselves: the cursor is in the pool, and totals are the
 * sums of all bins. One funded pool tells.
 */
export async function judgeArrangements(
  chain: CalibrationChain,
  pools: readonly CalibrationPool[],
  lens: Address | undefined,
): Promise<Finding> {
  const block = await chain.head();
  const readings = STORAGE_ARRANGEMENTS.map(({ name }) => ({ name, agreed: 0, examples: [] as string[] }));
  let observations = 0;
  for (const pool of pools.slice(0, MOST_ASKED)) {
    if (observations === MOST_POOLS) break;
    const answers = await Promise.all(
      STORAGE_ARRANGEMENTS.map((arrangement) => contradiction(chain, block, pool, packedStorage(arrangement), lens)),
    );
    if (answers.some((answer) => answer === 'untold')) continue;
    observations += 1;
    for (const [index, answer] of answers.entries()) {
      const reading = readings[index];
      if (!reading) continue;
      if (answer === null) reading.agreed += 1;
      else reading.examples.push(`${pool.address}@${block.number}: ${answer}`);
    }
  }
  const agreeing = readings.filter(({ examples }) => examples.length === 0);
  const [only] = agreeing;
  const decided = agreeing.length === 0 ? NO_ARRANGEMENT : agreeing.length === 1 && only ? only.name : null;
  return {
    what: 'storage',
    decided: observations === 0 ? null : decided,
    observations,
    decisive: Math.max(...readings.map(({ examples }) => examples.length)),
    readings: readings.map((reading) => ({ ...reading, contradicted: reading.examples.length })),
  };
}

/** Why a pool contradicts an arrangement; null when it does not, `untold` when it cannot tell: it is empty, or unread. */
async function contradiction(
  chain: CalibrationChain,
  block: CalibrationBlock,
  pool: CalibrationPool,
  storage: PackedStorage,
  lens: Address | undefined,
): Promise<string | null> {
  const top = await readStorage(chain, storage, block, pool, []);
  if (top === null) return 'untold';
  const { cursor, binTotals } = top.head;
  if (cursor.bin < pool.lowestBin || cursor.bin > pool.highestBin || cursor.position > MAX_POSITION) {
    return `the cursor is at ${cursor.position} of bin ${cursor.bin}, outside of ${pool.lowestBin}..${pool.highestBin}`;
  }
  const bins = shownBins(pool, cursor.bin);
  const full = await readStorage(chain, storage, block, pool, bins);
  if (full === null || binTotals.token0Scaled + binTotals.token1Scaled === 0n) return 'untold';
  const byLens = lens && (await againstLens(chain, block, pool, storage, full, lens));
  if (byLens) return byLens;
  const isWhole = bins.length === pool.highestBin - pool.lowestBin + 1;
  return isWhole ? sumContradiction(full) : null;
}

function shownBins({ lowestBin, highestBin }: CalibrationPool, cursor: number): readonly number[] {
  const first = Math.max(lowestBin, Math.min(cursor - MOST_BINS / 2, highestBin - MOST_BINS + 1));
  const count = Math.min(MOST_BINS, highestBin - first + 1);
  return Array.from({ length: count }, (_, index) => first + index);
}

function sumContradiction({ head: { binTotals }, bins }: PoolStorage): string | null {
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
  storage: PackedStorage,
  { bins }: PoolStorage,
  lens: Address,
): Promise<string | null> {
  const numbers = [...bins.keys()];
  const [answer, words] = await Promise.all([
    chain.call(block, lens, encodeBinStates(pool.address, numbers)),
    readWords(chain, block, pool, numbers.map(storage.binSharesSlot)),
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
