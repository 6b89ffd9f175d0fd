import { setTimeout } from 'node:timers/promises';
import { createRestClient } from 'pool-trading-data-client/rest';
import { type Address, createPublicClient, createWalletClient, erc20Abi, http, parseAbi } from 'viem';

// Executes a route: execute-route URL CHAIN_ID RPC_URL ROUTER ACCOUNT TOKEN_IN TOKEN_OUT AMOUNT_IN. The node signs for
// the account, which has approved the router for its tokens.
const [url = '', chain, rpcUrl, router, account, tokenIn = '', tokenOut = '', amountIn = ''] = process.argv.slice(2);
const ROUTER_ABI = parseAbi(['function swap(address pool, bool zeroForOne, int128 amount, uint128 priceLimitX64)']);
const MAX_ATTEMPTS = 10;
const PAUSE_MS = 1_000;

const transport = http(rpcUrl);
const reader = createPublicClient({ transport });
const wallet = createWalletClient({ account: account as Address, transport });
const balanceOf = (token: string) =>
  reader.readContract({
    address: token as Address,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [account as Address],
  });

/**
 * Trades an exact input. A swap that the node or the chain rejects has traded nothing: the pool may have moved since
 * the route was found. Nothing is sent again after another failure, such as of the node: what was sent may still trade.
 */
async function swap(pool: string, zeroForOne: boolean, amount: bigint, priceLimitX64: string): Promise<void> {
  const call = {
    account: account as Address,
    address: router as Address,
    abi: ROUTER_ABI,
    functionName: 'swap',
    args: [pool as Address, zeroForOne, amount, BigInt(priceLimitX64)],
  } as const;
  for (let attempt = 1; ; attempt++) {
    const gas = await reader.estimateContractGas(call).catch((error: unknown) => {
      if (attempt === MAX_ATTEMPTS) throw error;
    });
    if (gas) {
      // With gas for a pool that moves, and so that the node does not try it once more.
      const hash = await wallet.writeContract({ ...call, chain: null, gas: (gas * 3n) / 2n });
      const { status } = await reader.waitForTransactionReceipt({ hash });
      if (status === 'success') return;
      if (attempt === MAX_ATTEMPTS) throw new Error(`The swap at ${pool} failed`);
    }
    await setTimeout(PAUSE_MS);
  }
}

const plan = await createRestClient(url).findRoute({ chainId: Number(chain), tokenIn, tokenOut, amountIn });
const before = await balanceOf(tokenOut);
for (const { legs } of plan.routes) {
  let amount = BigInt(legs[0]?.amountIn ?? 0);
  for (const { poolAddress, zeroForOne, tokenOut: received, priceLimitX64 } of legs) {
    const held = await balanceOf(received);
    await swap(poolAddress, zeroForOne, amount, priceLimitX64);
    // The next leg trades what this one gave.
    amount = (await balanceOf(received)) - held;
  }
}
process.stdout.write(`planned ${plan.amountOut}, received ${(await balanceOf(tokenOut)) - before}\n`);
