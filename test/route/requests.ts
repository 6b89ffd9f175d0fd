import type { PlanRequest, TradeType } from './plan-check.ts';
import type { RouteMarket, TokenName } from './route-market.ts';

const TRADED = ['WETH', 'USDC', 'WBTC', 'DAI'] as const;
/** USD of a whole token, roughly: to make orders of like sizes. */
const USD: Readonly<Record<TokenName, number>> = { WETH: 3_000, USDC: 1, WBTC: 60_000, DAI: 1, LONE: 2 };

/** Raw units of a token worth this many USD. */
export function amountOf({ tokens }: RouteMarket, name: TokenName, usd: number): bigint {
  return (BigInt(Math.round((usd / USD[name]) * 1e6)) * 10n ** BigInt(tokens[name].decimals)) / 1_000_000n;
}

/** An order worth this many USD. */
export function orderBetween(
  market: RouteMarket,
  tokenIn: TokenName,
  tokenOut: TokenName,
  tradeType: TradeType,
  usd: number,
): PlanRequest {
  const amount = amountOf(market, tradeType === 'exact_in' ? tokenIn : tokenOut, usd);
  return { tokenIn: market.tokens[tokenIn].address, tokenOut: market.tokens[tokenOut].address, tradeType, amount };
}

/** Orders of these sizes between all pairs of the market's traded tokens. */
export function ordersBetweenAll(
  market: RouteMarket,
  tradeType: TradeType,
  sizesUsd: readonly number[],
): readonly PlanRequest[] {
  return TRADED.flatMap((tokenIn) =>
    TRADED.filter((name) => name !== tokenIn).flatMap((tokenOut) =>
      sizesUsd.map((usd) => orderBetween(market, tokenIn, tokenOut, tradeType, usd)),
    ),
  );
}
