import type { LiquidityChanged } from '../../protocol/pool-events.ts';
import { toRawCeil, toRawFloor } from '../../protocol/scaling.ts';
import type { PoolRow } from '../schema/pools.ts';

/**
 * Adds up a liquidity change over its bins; amounts are signed, positive into the pool. Rounds raw amounts as the pool
 * does: once, for all bins together, in its favour.
 */
export function sumLiquidityChange(
  { changes }: LiquidityChanged,
  scale: Pick<PoolRow, 'token0ScaleMultiplier' | 'token1ScaleMultiplier'>,
) {
  const delta0Scaled = changes.reduce((sum, change) => sum + change.delta0Scaled, 0n);
  const delta1Scaled = changes.reduce((sum, change) => sum + change.delta1Scaled, 0n);
  return {
    delta0Scaled,
    delta1Scaled,
    amount0Raw: toRawInPoolsFavour(delta0Scaled, scale.token0ScaleMultiplier),
    amount1Raw: toRawInPoolsFavour(delta1Scaled, scale.token1ScaleMultiplier),
  };
}

function toRawInPoolsFavour(deltaScaled: bigint, multiplier: bigint): bigint {
  return deltaScaled > 0n ? toRawCeil(deltaScaled, multiplier) : -toRawFloor(-deltaScaled, multiplier);
}
