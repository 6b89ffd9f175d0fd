import type { PackedBinSwapped, PackedSwapped } from '../../../pool-events.ts';
import type { BinState } from '../../../pool-state.ts';
import type { TokenScale } from '../../../scaling.ts';
import type { PoolHead, TokenPair } from '../../storage.ts';

/** What a pool's storage holds at one block. */
export interface StoredPool {
  readonly head: PoolHead;
  /** At least the bins that the swap names. */
  readonly bins: ReadonlyMap<number, BinState>;
}

/** A swap that was all that its pool did in its block, and the pool's storage on both sides of the block. */
export interface ObservedSwap {
  readonly swap: PackedSwapped;
  readonly bins: readonly PackedBinSwapped[];
  readonly before: StoredPool;
  readonly after: StoredPool;
  readonly scale: TokenScale;
}

/** What storage tells of a swap, in the terms of the token that came in and the one that left. Scaled units. */
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

/** The flow of a swap; null when it moved nothing. */
export function swapFlow({ swap, before, after, scale }: ObservedSwap): SwapFlow | null {
  const { amount0Delta, amount1Delta } = swap;
  if (amount0Delta <= 0n && amount1Delta <= 0n) return null;
  const zeroForOne = amount0Delta > 0n;
  const kept = change(before.head.binTotals, after.head.binTotals);
  const notional = change(before.head.notionalFees, after.head.notionalFees);
  const [amountIn, unitIn] = zeroForOne ? [amount0Delta, scale.multiplier0] : [amount1Delta, scale.multiplier1];
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

/** What changed of two amounts. */
export function change(before: TokenPair, after: TokenPair): TokenPair {
  return {
    token0Scaled: after.token0Scaled - before.token0Scaled,
    token1Scaled: after.token1Scaled - before.token1Scaled,
  };
}
