import { createRestClient } from 'pool-trading-data-client/rest';
import { type Address, createPublicClient, createWalletClient, erc20Abi, http, parseAbi } from 'viem';

// A route, executed: execute-route URL CHAIN_ID RPC_URL ROUTER ACCOUNT TOKEN_IN TOKEN_OUT AMOUNT_IN. The node signs for the
// account, which has let the router take its tokens.
const [url = '', chain, rpcUrl, router, account, tokenIn = '', tokenOut = '', amountIn = ''] = process.argv.slice(2);
const ROUTER_ABI = parseAbi(['function swap(address pool, bool zeroForOne, int128 amount, uint128 priceLimitX64)']);
/** What may be lost to trades in the meantime, in thousandths. */
const MAX_LOSS_E3 = 10n;

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

const plan = await createRestClient(url).findRoute({ chainId: Number(chain), tokenIn, tokenOut, amountIn });
const before = await balanceOf(tokenOut);
for (const { legs } of plan.routes) {
  let amount = BigInt(legs[0]?.amountIn ?? 0);
  for (const { poolAddress, zeroForOne, tokenOut: received, priceLimitX64 } of legs) {
    const held = await balanceOf(received);
    const hash = await wallet.writeContract({
      chain: null,
      address: router as Address,
      abi: ROUTER_ABI,
      functionName: 'swap',
      args: [poolAddress as Address, zeroForOne, amount, BigInt(priceLimitX64)],
    });
    const { status } = await reader.waitForTransactionReceipt({ hash });
    if (status !== 'success') throw new Error(`The swap at ${poolAddress} failed`);
    // The next leg trades what this one gave.
    amount = (await balanceOf(received)) - held;
  }
}

const received = (await balanceOf(tokenOut)) - before;
const planned = BigInt(plan.amountOut);
process.stdout.write(`planned ${planned}, received ${received}\n`);
if (received * 1_000n < planned * (1_000n - MAX_LOSS_E3)) process.exitCode = 1;
