import { EXAMPLE } from '../declaration/example-market.ts';

const TOKENS = {
  tokenIn: EXAMPLE.weth,
  tokenOut: EXAMPLE.usdc,
};

/** One WETH for USDC. */
export const REQUEST_EXAMPLE = { ...TOKENS, amountIn: '1000000000000000000' };

const AMOUNTS = {
  tradeType: 'exact_in',
  amountIn: '1000000000000000000',
  amountOut: '2997896551',
  effectivePriceX64: '55301430435',
};

const LEG = {
  ...TOKENS,
  ...AMOUNTS,
  poolAddress: EXAMPLE.pool,
  pair: 'WETH/USDC',
  zeroForOne: true,
  priceImpactE6: '1000',
  priceLimitX64: '0',
};

/** One pool takes the whole order. */
export const PLAN_EXAMPLE = {
  ...TOKENS,
  ...AMOUNTS,
  priceImpactBestRoute: '0.001',
  candidatesConsidered: 1,
  routes: [{ ...AMOUNTS, routeType: 'direct', priceImpactE6: '1000', legs: [LEG] }],
};
