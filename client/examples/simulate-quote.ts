import { maxIn, quoteExactIn } from 'pool-trading-data-client/math';
import { createRestClient } from 'pool-trading-data-client/rest';
import { OverridesIgnoredError, SwapRevertedError, simulateExactIn } from 'pool-trading-data-client/simulate';
import { createPublicClient, http } from 'viem';

// Lets a node simulate what a pool quotes for half of the token0 that it takes:
// simulate-quote URL CHAIN_ID RPC_URL POOL.
const [url = '', chain, rpcUrl, poolAddress = ''] = process.argv.slice(2);
const node = createPublicClient({ transport: http(rpcUrl) });

const request = { chainId: Number(chain), poolAddress, include: 'stateOverride' } as const;
const quote = await createRestClient(url).getBidAsk(request);
if (!quote.depth) throw new Error('The quote has no depth');
const amountIn = maxIn(quote.depth.bids) / 2n;
const { amountOutFloor } = quoteExactIn(quote.depth.bids, amountIn);
try {
  const { amountOut } = await simulateExactIn(node, { quote, side: 'bids' }, amountIn);
  process.stdout.write(`${quote.basis?.kind ?? 'committed'}: quoted ${amountOutFloor}, simulated ${amountOut}\n`);
} catch (error) {
  if (error instanceof OverridesIgnoredError) throw new Error('Use a node that takes overrides', { cause: error });
  if (error instanceof SwapRevertedError) process.stdout.write(`The pool reverts with ${error.selector}\n`);
  else throw error;
}
