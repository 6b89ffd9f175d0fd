import type { Hex } from 'viem';
import type { CalibrationBlock, CalibrationChain, CalibrationPool } from '../../../calibration.ts';
import { decodeExtsload, encodeExtsload } from '../../extsload.ts';
import { HEAD_SLOTS, type PackedStorage } from '../storage.ts';
import type { PoolStorage } from './observed-swap.ts';

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

/** Head and some bins of a pool; null as for {@link readWords}. */
export async function readStorage(
  chain: CalibrationChain,
  storage: PackedStorage,
  block: CalibrationBlock,
  pool: CalibrationPool,
  bins: readonly number[],
): Promise<PoolStorage | null> {
  const words = await readWords(chain, block, pool, [...HEAD_SLOTS, ...bins.map(storage.binSlot)]);
  if (words === null) return null;
  const states = words.slice(HEAD_SLOTS.length).map(storage.decodeBin);
  const named = states.map((state, index) => [bins[index] ?? Number.NaN, state] as const);
  return { head: storage.decodeHead(words), bins: new Map(named) };
}
