import type { Address } from 'viem';
import type { PoolToken, ServedPool } from '../../api/snapshots/pool-directory.ts';
import type { DepthSnapshot } from '../../api/snapshots/types.ts';
import { sideCurve } from '../../protocol/depth.ts';
import { MAX_UINT128 } from '../../protocol/fixed-point.ts';
import { pricePool } from '../../protocol/geometry.ts';
import type { BinState, PoolState } from '../../protocol/pool-state.ts';
import { tokenScale } from '../../protocol/scaling.ts';

export interface MarketShape {
  readonly tokens: number;
  readonly pools: number;
  /** The first tokens are hubs: most pools have one of them on a side, as in real markets. */
  readonly hubs: number;
  readonly binsPerSide: number;
}

export interface BenchMarket {
  readonly chainId: number;
  readonly tokens: readonly PoolToken[];
  readonly pools: readonly ServedPool[];
  readonly snapshots: ReadonlyMap<Address, DepthSnapshot>;
}

const CHAIN_ID = 31337;
const HUB_SHARE = 0.7;
const DECIMALS = [6, 8, 18];
/** Worth of all liquidity of a side of a pool, in USD. */
const SIDE_USD = { least: 20_000, most: 2_000_000 };

const address = (number: number): Address => `0x${number.toString(16).padStart(40, '0')}`;
const pick = (random: () => number, count: number) => Math.floor(random() * count);

/** A market of healthy pools around fair prices, whose depth is computed as for real ones. */
export function createMarket(shape: MarketShape, random: () => number): BenchMarket {
  const tokens = Array.from({ length: shape.tokens }, (_, index) => ({
    token: { address: address(1 + index), symbol: `T${index}`, decimals: DECIMALS[index % DECIMALS.length] ?? 18 },
    usd: 10 ** (random() * 5 - 1),
  }));
  const made = Array.from({ length: shape.pools }, (_, index) => {
    const [a, b] = twoTokens(shape, random);
    const [one, other] = [tokens[Math.min(a, b)], tokens[Math.max(a, b)]];
    if (!one || !other) throw new RangeError('token out of range');
    const state = poolState(one, other, shape.binsPerSide, random);
    return snapshotOf(servedPool(10_000 + index, one.token, other.token, state), state, one.usd / other.usd, random);
  });
  return {
    chainId: CHAIN_ID,
    tokens: tokens.map(({ token }) => token),
    pools: made.map(({ pool }) => pool),
    snapshots: new Map(made.map((snapshot) => [snapshot.pool.address, snapshot])),
  };
}

function twoTokens(shape: MarketShape, random: () => number): [number, number] {
  const a = random() < HUB_SHARE ? pick(random, shape.hubs) : pick(random, shape.tokens);
  for (;;) {
    const b = pick(random, shape.tokens);
    if (b !== a) return [a, b];
  }
}

interface PricedToken {
  readonly token: PoolToken & { readonly decimals: number };
  readonly usd: number;
}

function poolState(one: PricedToken, other: PricedToken, binsPerSide: number, random: () => number): PoolState {
  const sideUsd = SIDE_USD.least * (SIDE_USD.most / SIDE_USD.least) ** random();
  const lengthE6 = 300 + pick(random, 4_000);
  const perBin = (token: PricedToken) =>
    BigInt(Math.floor((sideUsd / binsPerSide / token.usd) * (0.5 + random()) * 1e6));
  const bins = Array.from({ length: 2 * binsPerSide }, (_, index): BinState => {
    const above = index >= binsPerSide;
    return {
      token0Scaled: above ? perBin(one) * 10n ** 12n : 0n,
      token1Scaled: above ? 0n : perBin(other) * 10n ** 12n,
      lengthE6,
      addFeeBuyE6: 100,
      addFeeSellE6: 100,
    };
  });
  return {
    lowestBin: -binsPerSide,
    highestBin: binsPerSide - 1,
    scale: tokenScale(one.token.decimals, other.token.decimals),
    pauseLevel: 0,
    cursor: { bin: 0, position: 0n, lowerDistE6: pick(random, 2_000) - 1_000 },
    spreadFeeE6: 100_000,
    notionalFeeE8: 1_000,
    bins,
  };
}

function servedPool(number: number, token0: PoolToken, token1: PoolToken, state: PoolState): ServedPool {
  return {
    chainId: CHAIN_ID,
    address: address(number),
    contractVersion: 'v1',
    layout: 'flat',
    token0,
    token1,
    pair: `${token0.symbol}/${token1.symbol}`,
    immutables: { lowestBin: state.lowestBin, highestBin: state.highestBin, scale: state.scale },
    immutableProvider: null,
    extensions: [],
  };
}

function snapshotOf(pool: ServedPool, state: PoolState, price: number, random: () => number): DepthSnapshot {
  const midX64 = BigInt(Math.floor(price * (0.999 + random() * 0.002) * 2 ** 40)) << 24n;
  const halfSpread = midX64 / BigInt(2_000 + pick(random, 8_000));
  const priced = pricePool(state, { bidX64: midX64 - halfSpread, askX64: midX64 + halfSpread });
  const block = { number: 1n, hash: `0x${'00'.repeat(32)}`, timestamp: 1n } as const;
  return {
    pool,
    block,
    readAt: 1,
    status: 'healthy',
    bidX64: 1n,
    askX64: MAX_UINT128 - 1n,
    balance0Raw: null,
    balance1Raw: null,
    depth: { bids: sideCurve(priced, true).levels, asks: sideCurve(priced, false).levels },
  };
}
