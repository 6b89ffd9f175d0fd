import { DEFAULT_MIN_TVL_FIAT } from '../../db/listing/default-floor.ts';
import type { StoredAnalytics } from '../../db/listing/show-pool.ts';
import { absBigint } from '../../protocol/fixed-point.ts';
import type { Totals } from '../../protocol/pool-totals.ts';
import { MIN_INTERNAL_DECIMALS } from '../../protocol/scaling.ts';
import { toJsonInteger } from '../../runtime/json.ts';
import { type LastPricedToken, PRICE_AGE, type PriceAge, pricedToken } from './price-age.ts';
import { type PricedToken, sumKnown, toDollars, toPriceE18, type UsdE18, usdValueFloor } from './usd-value.ts';

/** An amount of token0 and one of token1. */
export type TokenAmounts = readonly [bigint, bigint];

/** Amounts of both tokens; null when they are not known. */
export type KnownPair = TokenAmounts | null;

/** A pool's day, and what LPs earned in its week. */
export type PoolDay = {
  /** What the day added to the running totals. */
  readonly totals: Totals;
  /** All that traders paid in the day. */
  readonly feesScaled: KnownPair;
  readonly lpFeesScaled: KnownPair;
  readonly weekLpFeesScaled: KnownPair;
  /** LP-owned balances now. */
  readonly liquidityRaw: TokenAmounts;
};

const BPS = 10_000n;
const DAYS_PER_YEAR = 365n;
const DAYS_PER_WEEK = 7n;

/** A pool's figures in USD and basis points; null is unknown. */
export type Figures = ReturnType<typeof computeFigures>;

/** Figures of a pool whose index is not what the chain holds. */
export const UNKNOWN_FIGURES: Figures = {
  tvlFiat: null,
  volumeFiat: null,
  lpFeesFiat: null,
  lpFeesFiat7d: null,
  aprBps: null,
  aprBps7d: null,
};

/** Computes what pools are compared by. @param tokens prices and decimals in pool order */
function computeFigures(day: PoolDay, tokens: readonly [PricedToken, PricedToken]) {
  const raw = [rawValuer(tokens[0]), rawValuer(tokens[1])] as const;
  const scaled = scaledValuers(tokens);
  const tvl = valueOfBoth(day.liquidityRaw, raw);
  const [lpFees, weekLpFees] = [valueOfBoth(day.lpFeesScaled, scaled), valueOfBoth(day.weekLpFeesScaled, scaled)];
  return {
    tvlFiat: dollarsOrNull(tvl),
    volumeFiat: dollarsOrNull(valueOfBoth([day.totals.swapIn0Raw, day.totals.swapIn1Raw], raw)),
    lpFeesFiat: dollarsOrNull(lpFees),
    lpFeesFiat7d: dollarsOrNull(weekLpFees),
    aprBps: aprBpsFloor(lpFees, 1n, tvl),
    aprBps7d: aprBpsFloor(weekLpFees, DAYS_PER_WEEK, tvl),
  };
}

/**
 * Computes figures that sort and filter pools, so that a lost price source hides none. A token without a present price
 * counts at its last one: for a day all figures, then TVL alone, up to the default floor of listings.
 *
 * @param tokens last prices and decimals in pool order
 */
export function sortFigures(day: PoolDay, tokens: readonly [LastPricedToken, LastPricedToken]): Figures {
  const pricedUpTo = (age: PriceAge) => computeFigures(day, [pricedToken(tokens[0], age), pricedToken(tokens[1], age)]);
  const recent = pricedUpTo(PRICE_AGE.ofDay);
  if (recent.tvlFiat !== null) return recent;
  const { tvlFiat } = pricedUpTo(PRICE_AGE.older);
  return { ...recent, tvlFiat: tvlFiat === null ? null : Math.min(tvlFiat, DEFAULT_MIN_TVL_FIAT) };
}

/**
 * Computes all of `analytics24h` except the window's bounds, and its `figures`.
 *
 * @param tokens prices and decimals in pool order
 */
export function computeAnalytics(day: PoolDay, tokens: readonly [PricedToken, PricedToken]) {
  const sides = [tokenAnalytics(day, 0, rawValuer(tokens[0])), tokenAnalytics(day, 1, rawValuer(tokens[1]))] as const;
  const figures = computeFigures(day, tokens);
  const { totals } = day;
  const analytics: StoredAnalytics = {
    swapTxCount: Number(totals.swapTxCount),
    transfers: Number(totals.transferCount),
    liquidityEventCount: Number(totals.liquidityAddCount + totals.liquidityRemoveCount),
    liquidityAddEventCount: Number(totals.liquidityAddCount),
    liquidityRemoveEventCount: Number(totals.liquidityRemoveCount),
    token0: sides[0].shown,
    token1: sides[1].shown,
    volumeFiat: figures.volumeFiat,
    feesFiat: dollarsOrNull(valueOfBoth(day.feesScaled, scaledValuers(tokens))),
    tvlFiat: figures.tvlFiat,
    aprBps: figures.aprBps === null ? null : toJsonInteger(figures.aprBps),
    ...coverage(sides.map(({ moved }, index) => ({ moved, priced: isPriced(tokens[index]) }))),
  };
  return { figures, analytics };
}

/** Gives the value of amounts of both tokens; null when it is unknown. */
const valueOfBoth = (amounts: KnownPair, valuers: readonly [Valuer, Valuer]): UsdE18 | null =>
  amounts && sumKnown([valuers[0](amounts[0]), valuers[1](amounts[1])]);

/** Gives the value of an amount; null when it is unknown. Zero is worth zero at any price. */
type Valuer = (amount: bigint) => UsdE18 | null;

function rawValuer(token: PricedToken): Valuer {
  const { usd, decimals } = token;
  if (usd === null || decimals === null) return (amount) => (amount === 0n ? 0n : null);
  const price = toPriceE18(usd);
  return (amount) => usdValueFloor(amount, decimals, price);
}

/** Values amounts in internal units, which have as many decimals as the finer token, and at least 18. */
function scaledValuers([token0, token1]: readonly [PricedToken, PricedToken]): [Valuer, Valuer] {
  const known = token0.decimals !== null && token1.decimals !== null;
  const decimals = known ? Math.max(MIN_INTERNAL_DECIMALS, token0.decimals, token1.decimals) : null;
  return [rawValuer({ usd: token0.usd, decimals }), rawValuer({ usd: token1.usd, decimals })];
}

function tokenAnalytics({ totals, liquidityRaw }: PoolDay, side: 0 | 1, value: Valuer) {
  const liquidity = liquidityRaw[side];
  const [swapIn, swapOut] = [totals[`swapIn${side}Raw`], totals[`swapOut${side}Raw`]];
  const volume = swapIn + swapOut;
  const inflow = swapIn + totals[`liquidityIn${side}Raw`];
  const outflow = swapOut + totals[`liquidityOut${side}Raw`] + totals[`feesCollected${side}Raw`];
  const net = inflow - outflow;
  const fiat = (amount: bigint) => {
    const size = value(absBigint(amount));
    return dollarsOrNull(size !== null && amount < 0n ? -size : size);
  };
  const shown: StoredAnalytics['token0'] = {
    liquidityRaw: String(liquidity),
    volumeRaw: String(volume),
    inflowRaw: String(inflow),
    outflowRaw: String(outflow),
    netRaw: String(net),
    liquidityFiat: fiat(liquidity),
    volumeFiat: fiat(volume),
    inflowFiat: fiat(inflow),
    outflowFiat: fiat(outflow),
    netFiat: fiat(net),
  };
  return { shown, moved: liquidity + inflow + outflow > 0n };
}

/** LP fees of some days as basis points of TVL per year, rounded down; null when either is unknown or TVL is zero. */
function aprBpsFloor(lpFees: UsdE18 | null, days: bigint, tvl: UsdE18 | null): bigint | null {
  if (lpFees === null || tvl === null || tvl === 0n) return null;
  return (lpFees * DAYS_PER_YEAR * BPS) / (days * tvl);
}

type Coverage = Pick<
  StoredAnalytics,
  'fiatAvailable' | 'fiatCoveragePct' | 'usdCoveragePct' | 'fiatCurrency' | 'fiatStatus' | 'pricingMode'
>;

/**
 * The priced share of the tokens that the pool holds or moved in the day. A pool that did neither has nothing to price.
 */
function coverage(sides: readonly { readonly moved: boolean; readonly priced: boolean }[]): Coverage {
  const moved = sides.filter((side) => side.moved);
  const pct = moved.length > 0 ? (100 * moved.filter(({ priced }) => priced).length) / moved.length : 0;
  return {
    fiatAvailable: pct > 0,
    fiatCoveragePct: pct > 0 ? pct : null,
    usdCoveragePct: pct,
    fiatCurrency: 'USD',
    fiatStatus: pct === 100 ? 'complete' : pct > 0 ? 'partial' : 'unavailable',
    pricingMode: 'spot',
  };
}

function isPriced(token: PricedToken | undefined): boolean {
  return token !== undefined && token.usd !== null && token.decimals !== null;
}

function dollarsOrNull(value: UsdE18 | null): number | null {
  return value === null ? null : toDollars(value);
}
