import { averagePrice, bestPoolExactIn, toDecimalPrice } from 'pool-trading-data-client/math';
import { createRestClient } from 'pool-trading-data-client/rest';

// The best pool of a pair: best-price URL CHAIN_ID TOKEN_IN TOKEN_OUT AMOUNT_IN, in raw units.
const [url = '', chain, sold = '', bought = '', amountIn = ''] = process.argv.slice(2);
// As pools name them.
const [tokenIn, tokenOut] = [sold.toLowerCase(), bought.toLowerCase()];
const chainId = Number(chain);
const client = createRestClient(url);

const pools = new Map<string, { isSale: boolean; decimalsIn: number; decimalsOut: number }>();
for await (const pool of client.allPools({ chainId, search: tokenIn, minTvlFiat: 0 })) {
  const { poolAddress, token0, token1, token0Decimals, token1Decimals } = pool;
  const isSale = token0 === tokenIn && token1 === tokenOut;
  const isPurchase = token1 === tokenIn && token0 === tokenOut;
  if (!(isSale || isPurchase) || token0Decimals === undefined || token1Decimals === undefined) continue;
  const [decimalsIn, decimalsOut] = isSale ? [token0Decimals, token1Decimals] : [token1Decimals, token0Decimals];
  pools.set(poolAddress, { isSale, decimalsIn, decimalsOut });
}

if (pools.size === 0) throw new Error('No pool has the pair');
// A request names 100 pools at most.
const { results } = await client.getBidAskBatch({ chainId, pools: [...pools.keys()].slice(0, 100) });
const candidates = results.flatMap((result) => {
  const pool = pools.get(result.poolAddress);
  if (!pool || !('quote' in result)) return [];
  return [{ ...pool, quote: result.quote, side: pool.isSale ? ('bids' as const) : ('asks' as const) }];
});

const best = bestPoolExactIn(candidates, BigInt(amountIn), { maxAgeMs: 15_000 });
if (!best) throw new Error('No pool can be traded on and takes the order whole');
const price = toDecimalPrice(averagePrice(best).floorX64, best);
process.stdout.write(`${best.quote.poolAddress} gives ${best.amountOutFloor}, ${price} on average\n`);
