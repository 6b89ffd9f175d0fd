import { decodeEventLog, type Hex } from 'viem';
import type { CalibrationBlock, CalibrationChain, CalibrationPool, PoolLog } from '../../../calibration.ts';
import type { PackedBinSwapped, PackedSwapped } from '../../../pool-events.ts';
import type { PoolHead, TokenPair } from '../../../pool-state.ts';
import type { TokenScale } from '../../../scaling.ts';
import { type SingleSwap, singleSwaps } from '../../../single-swaps.ts';
import { decodeExtsload, encodeExtsload } from '../../extsload.ts';
import { HEAD_SLOTS } from '../../storage.ts';
import { packedPoolEvents } from '../abi.ts';
import { packedEvents } from '../events.ts';
import { packedStorage } from '../storage.ts';

/** A swap that was its pool's only action in a block, with the pool's storage before and after the block. */
export interface ObservedSwap {
  /** Names the swap in the evidence. */
  readonly name: string;
  readonly swap: PackedSwapped;
  readonly bins: readonly PackedBinSwapped[];
  readonly before: PoolHead;
  readonly after: PoolHead;
  readonly scale: TokenScale;
}

/** What storage shows about a swap, by the token that came in and the token that left. Scaled units. */
export interface SwapFlow {
  readonly zeroForOne: boolean;
  /** What the platform took of the input: what came in, less what the bins kept. Rounded up by less than `unitIn`. */
  readonly platformInput: bigint;
  /** Notional fees that accrued. */
  readonly notionalIn: bigint;
  readonly notionalOut: bigint;
  /** Scaled units per raw unit of the input. */
  readonly unitIn: bigint;
}

/** The flow of a swap that moved something. */
export function swapFlow({ swap, before, after, scale }: ObservedSwap): SwapFlow {
  const zeroForOne = swap.amount0Delta > 0n;
  const kept = change(before.binTotals, after.binTotals);
  const notional = change(before.notionalFees, after.notionalFees);
  const [amountIn, unitIn] = zeroForOne
    ? [swap.amount0Delta, scale.multiplier0]
    : [swap.amount1Delta, scale.multiplier1];
  const [tokenIn, tokenOut] = zeroForOne
    ? (['token0Scaled', 'token1Scaled'] as const)
    : (['token1Scaled', 'token0Scaled'] as const);
  return {
    zeroForOne,
    platformInput: amountIn * unitIn - kept[tokenIn],
    notionalIn: notional[tokenIn],
    notionalOut: notional[tokenOut],
    unitIn,
  };
}

const change = (before: TokenPair, after: TokenPair): TokenPair => ({
  token0Scaled: after.token0Scaled - before.token0Scaled,
  token1Scaled: after.token1Scaled - before.token1Scaled,
});

/**
 * Observes the newest swaps that were their pool's only action in a block, alternating between the pools. It looks back
 * until it has enough of them, or until the nodes no longer hold the state.
 */
export async function observeSwaps(
  chain: CalibrationChain,
  pools: readonly CalibrationPool[],
  most: number,
): Promise<readonly ObservedSwap[]> {
  const found: ObservedSwap[] = [];
  for await (const single of singleSwaps(chain, packedPoolEvents, pools)) {
    if (found.length >= most) return found;
    const observed = await observe(chain, single);
    if (observed === 'unreadable' && found.length > 0) return found;
    if (typeof observed === 'object') found.push(observed);
  }
  return found;
}

async function observe(
  chain: CalibrationChain,
  { pool, blockNumber, blockHash, ...logs }: SingleSwap,
): Promise<ObservedSwap | 'unreadable' | 'reorganised'> {
  const [earlier, later] = await Promise.all([chain.blockAt(blockNumber - 1n), chain.blockAt(blockNumber)]);
  const swap = packedEvents.Swap(decodeEventLog({ ...DECODED, eventName: 'Swap', ...topicsOf(logs.swap) }).args);
  if (later.hash !== blockHash) return 'reorganised';
  const bins = logs.bins.map((log) =>
    packedEvents.BinSwapped(decodeEventLog({ ...DECODED, eventName: 'BinSwapped', ...topicsOf(log) }).args),
  );
  const [before, after] = await Promise.all([readHeadAt(chain, earlier, pool), readHeadAt(chain, later, pool)]);
  if (before === null || after === null) return 'unreadable';
  return { name: `${pool.address}@${blockNumber}`, swap, bins, before, after, scale: pool.scale };
}

const DECODED = { abi: packedPoolEvents } as const;

const topicsOf = ({ topics, data }: PoolLog) => ({ topics: topics as [Hex, ...Hex[]], data });

/** Head of a pool at a block; null as for {@link readWords}. */
export async function readHeadAt(
  chain: CalibrationChain,
  block: CalibrationBlock,
  pool: CalibrationPool,
): Promise<PoolHead | null> {
  const words = await readWords(chain, block, pool, HEAD_SLOTS);
  return words && packedStorage.decodeHead(words);
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
