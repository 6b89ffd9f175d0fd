import type { Address } from 'viem';
import { MAX_UINT128 } from '../../protocol/fixed-point.ts';
import { pricePool, sideCurve } from '../../protocol/layouts/flat/geometry.ts';
import type { PoolState } from '../../protocol/pool-state.ts';
import { tokenScale } from '../../protocol/scaling.ts';
import type { PoolToken, ServedPool } from '../../quoting/pools/pool-directory.ts';
import type { DepthSnapshot } from '../../quoting/types.ts';
import type { MarketPlan, PlannedPool } from './market-plan.ts';

export const CHAIN_ID = 31337;

export interface BenchMarket {
  readonly tokens: readonly PoolToken[];
  readonly pools: readonly ServedPool[];
}

/** A market whose snapshots are in memory. */
export interface WarmMarket extends BenchMarket {
  readonly snapshots: ReadonlyMap<Address, DepthSnapshot>;
}

export const numberedAddress = (number: number): Address => `0x${number.toString(16).padStart(40, '0')}`;

/** Healthy pools as planned, whose depth is computed as for real ones. */
export function warmMarket(plan: MarketPlan): WarmMarket {
  const tokens = plan.tokens.map(({ symbol, decimals }, index) => ({
    address: numberedAddress(1 + index),
    symbol,
    decimals,
  }));
  const made = plan.pools.map((planned, index) => {
    const [token0, token1] = [planned.token0, planned.token1].map((token) => tokens[plan.tokens.indexOf(token)]);
    if (!token0 || !token1) throw new RangeError('a pool of unplanned tokens');
    return snapshotOf(servedPool(planned, numberedAddress(10_000 + index), token0, token1), planned);
  });
  return {
    tokens,
    pools: made.map(({ pool }) => pool),
    snapshots: new Map(made.map((snapshot) => [snapshot.pool.address, snapshot])),
  };
}

/** What the directory would know of a pool. */
export function servedPool(
  { lowestBin, highestBin, token0: planned0, token1: planned1 }: PlannedPool,
  poolAddress: Address,
  token0: PoolToken,
  token1: PoolToken,
): ServedPool {
  return {
    chainId: CHAIN_ID,
    address: poolAddress,
    contractVersion: 'v1',
    layout: 'flat',
    token0,
    token1,
    pair: `${token0.symbol}/${token1.symbol}`,
    immutables: { lowestBin, highestBin, scale: tokenScale(planned0.decimals, planned1.decimals) },
    immutableProvider: null,
    extensions: [],
    stopLossMark: 'mean',
    router: null,
  };
}

function snapshotOf(pool: ServedPool, planned: PlannedPool): DepthSnapshot {
  const priced = pricePool(stateOf(pool, planned), planned.quote);
  return {
    pool,
    block: { number: 1n, hash: `0x${'00'.repeat(32)}`, timestamp: 1n },
    readAt: 1,
    status: 'healthy',
    bidX64: 1n,
    askX64: MAX_UINT128 - 1n,
    balance0Raw: null,
    balance1Raw: null,
    depth: { bids: sideCurve(priced, true).levels, asks: sideCurve(priced, false).levels },
  };
}

function stateOf({ immutables }: ServedPool, planned: PlannedPool): PoolState {
  const { lowestBin, highestBin, lengthE6, lowerDistE6, token0PerBinE6, priceE12 } = planned;
  const token0Scaled = token0PerBinE6 * 10n ** 12n;
  const token1Scaled = (token0Scaled * priceE12) / 10n ** 12n;
  const fees = { addFeeBuyE6: 100, addFeeSellE6: 100 };
  return {
    ...immutables,
    pauseLevel: 0,
    cursor: { bin: 0, position: 0n, lowerDistE6 },
    spreadFeeE6: 100_000,
    notionalFeeE8: 1_000,
    bins: Array.from({ length: highestBin - lowestBin + 1 }, (_, index) =>
      index + lowestBin >= 0
        ? { lengthE6, ...fees, token0Scaled, token1Scaled: 0n }
        : { lengthE6, ...fees, token0Scaled: 0n, token1Scaled },
    ),
  };
}
