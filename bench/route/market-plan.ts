import type { Random } from '../../devnet/traffic/random.ts';
import type { BidAsk } from '../../protocol/curve.ts';
import { Q64 } from '../../protocol/fixed-point.ts';

export interface MarketShape {
  readonly tokens: number;
  readonly pools: number;
  /** The first tokens are hubs: most pools have one of them on a side, as in real markets. */
  readonly hubs: number;
  readonly binsPerSide: number;
}

export interface PlannedToken {
  readonly symbol: string;
  readonly decimals: number;
  /** Worth of a whole token. */
  readonly usd: number;
}

/** A pool whose bins lie evenly around its price, each worth the same. */
export interface PlannedPool {
  readonly token0: PlannedToken;
  readonly token1: PlannedToken;
  readonly quote: BidAsk;
  readonly lowestBin: number;
  readonly highestBin: number;
  readonly lengthE6: number;
  readonly lowerDistE6: number;
  /** Whole token0 that a bin is worth, in millionths. */
  readonly token0PerBinE6: bigint;
  /** Whole token1 for a whole token0, in 10^-12. */
  readonly priceE12: bigint;
}

export interface MarketPlan {
  readonly tokens: readonly PlannedToken[];
  readonly pools: readonly PlannedPool[];
}

const HUB_SHARE = 0.7;
const DECIMALS = [6, 8, 18];
/** Worth of all liquidity of a side of a pool, in USD. */
const SIDE_USD = { least: 20_000, most: 2_000_000 };

/** A market of pools around fair prices, no two alike. */
export function planMarket(shape: MarketShape, random: Random): MarketPlan {
  const tokens = Array.from({ length: shape.tokens }, (_, index) => ({
    symbol: `T${index}`,
    decimals: DECIMALS[index % DECIMALS.length] ?? 18,
    usd: 10 ** (random.fraction() * 5 - 1),
  }));
  const pools = Array.from({ length: shape.pools }, () => {
    const [a, b] = twoTokens(shape, random);
    const [token0, token1] = [tokens[Math.min(a, b)], tokens[Math.max(a, b)]];
    if (!token0 || !token1) throw new RangeError('token out of range');
    return planPool(token0, token1, shape.binsPerSide, random);
  });
  return { tokens, pools };
}

function twoTokens(shape: MarketShape, random: Random): [number, number] {
  const a = random.fraction() < HUB_SHARE ? random.integer(0, shape.hubs - 1) : random.integer(0, shape.tokens - 1);
  for (;;) {
    const b = random.integer(0, shape.tokens - 1);
    if (b !== a) return [a, b];
  }
}

function planPool(token0: PlannedToken, token1: PlannedToken, binsPerSide: number, random: Random): PlannedPool {
  const sideUsd = SIDE_USD.least * (SIDE_USD.most / SIDE_USD.least) ** random.fraction();
  const priceE12 = BigInt(Math.floor((token0.usd / token1.usd) * (0.999 + random.fraction() * 0.002) * 1e12));
  const midX64 = (priceE12 * Q64) / 10n ** 12n;
  const halfSpread = midX64 / BigInt(random.integer(2_000, 9_999));
  return {
    token0,
    token1,
    priceE12,
    quote: { bidX64: midX64 - halfSpread, askX64: midX64 + halfSpread },
    lowestBin: -binsPerSide,
    highestBin: binsPerSide - 1,
    lengthE6: random.integer(300, 4_299),
    lowerDistE6: random.integer(-1_000, 999),
    token0PerBinE6: BigInt(Math.ceil((sideUsd / binsPerSide / token0.usd) * 1e6)),
  };
}
