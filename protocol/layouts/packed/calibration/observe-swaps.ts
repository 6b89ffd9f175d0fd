import { decodeEventLog, type Hex } from 'viem';
import type { CalibrationBlock, CalibrationChain, CalibrationPool, PoolLog } from '../../../calibration.ts';
import { type SingleSwap, singleSwaps } from '../../../single-swaps.ts';
import { decodeExtsload, encodeExtsload } from '../../extsload.ts';
import { binSlot, decodeBin, HEAD_SLOTS } from '../../storage.ts';
import { packedPoolEvents } from '../abi.ts';
import { packedEvents } from '../events.ts';
import { packedStorage } from '../storage.ts';
import type { ObservedSwap, StoredPool } from './observed-swap.ts';

/** A swap with a name by which it is found again. */
export interface NamedSwap {
  readonly name: string;
  readonly observed: ObservedSwap;
}

/**
 * The newest swaps that were all that their pool did in the block, with the storage before and after them, by turns of the
 * pools. It looks back until there are enough of them, or until the nodes no longer hold the state.
 */
export async function observeSwaps(
  chain: CalibrationChain,
  pools: readonly CalibrationPool[],
  most: number,
): Promise<readonly NamedSwap[]> {
  const found: NamedSwap[] = [];
  for await (const single of singleSwaps(chain, packedPoolEvents, pools)) {
    if (found.length >= most) return found;
    const observed = await observe(chain, single);
    if (observed === 'unreadable' && found.length > 0) return found;
    if (typeof observed === 'object') found.push({ name: `${single.pool.address}@${single.blockNumber}`, observed });
  }
  return found;
}

async function observe(
  chain: CalibrationChain,
  { pool, blockNumber, blockHash, ...logs }: SingleSwap,
): Promise<ObservedSwap | 'unreadable' | 'reorganised'> {
  const [before, after] = await Promise.all([chain.blockAt(blockNumber - 1n), chain.blockAt(blockNumber)]);
  if (after.hash !== blockHash) return 'reorganised';
  const swap = packedEvents.Swap(decodeEventLog({ ...DECODED, eventName: 'Swap', ...topicsOf(logs.swap) }).args);
  const bins = logs.bins.map((log) =>
    packedEvents.BinSwapped(decodeEventLog({ ...DECODED, eventName: 'BinSwapped', ...topicsOf(log) }).args),
  );
  const numbers = [...new Set(bins.map(({ bin }) => bin))];
  const read = (block: CalibrationBlock) => readStorage(chain, block, pool, numbers);
  const [stateBefore, stateAfter] = await Promise.all([read(before), read(after)]);
  if (stateBefore === null || stateAfter === null) return 'unreadable';
  return { swap, bins, before: stateBefore, after: stateAfter, scale: pool.scale };
}

const DECODED = { abi: packedPoolEvents } as const;

const topicsOf = ({ topics, data }: PoolLog) => ({ topics: topics as [Hex, ...Hex[]], data });

/** Head and some bins of a pool; null as for {@link readWords}. */
export async function readStorage(
  chain: CalibrationChain,
  block: CalibrationBlock,
  pool: CalibrationPool,
  bins: readonly number[],
): Promise<StoredPool | null> {
  const words = await readWords(chain, block, pool, [...HEAD_SLOTS, ...bins.map(binSlot)]);
  if (words === null) return null;
  const states = words.slice(HEAD_SLOTS.length).map(decodeBin);
  const named = states.map((state, index) => [bins[index] ?? Number.NaN, state] as const);
  return { head: packedStorage.decodeHead(words), bins: new Map(named) };
}

/** Storage words of a pool at a block; null when no node holds that state, or the pool does not answer. */
export async function readWords(
  chain: CalibrationChain,
  block: CalibrationBlock,
  { address }: CalibrationPool,
  slots: readonly Hex[],
): Promise<readonly Hex[] | null> {
  const answer = await chain.call(block, address, encodeExtsload(slots));
  if (answer === null) return null;
  try {
    const words = decodeExtsload(answer);
    return words.length === slots.length ? words : null;
  } catch {
    return null;
  }
}
