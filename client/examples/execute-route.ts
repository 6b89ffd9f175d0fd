import { createRestClient } from 'pool-trading-data-client/rest';
import { type Address, createPublicClient, createWalletClient, erc20Abi, http, parseAbi } from 'viem';

// A route, executed: execute-route URL CHAIN_ID RPC_URL ROUTER ACCOUNT TOKEN_IN TOKEN_OUT AMOUNT_IN. The node signs for the
// account, which has let the router take its tokens.
const [url = '', chain, rpcUrl, router, account, tokenIn = '', tokenOut = '', amountIn = ''] = process.argv.slice(2);
const ROUTER_ABI = parseAbi(['function swap(address pool, bool zeroForOne, int128 amount, uint128 priceLimitX64)']);
/** How much worse than planned prices may become before a swap stops, in thousandths. */
const TOLERANCE_E3 = 10n;
const MAX_ROUTES = 5;

const client = createRestClient(url);
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
type Plan = Awaited<ReturnType<typeof client.findRoute>>;
type Leg = Plan['routes'][number]['legs'][number];

async function swap({ poolAddress, zeroForOne, priceLimitX64 }: Leg, amount: bigint): Promise<void> {
  const limit = (BigInt(priceLimitX64) * (zeroForOne ? 1_000n - TOLERANCE_E3 : 1_000n + TOLERANCE_E3)) / 1_000n;
  const hash = await wallet.writeContract({
    chain: null,
    address: router as Address,
    abi: ROUTER_ABI,
    functionName: 'swap',
    args: [poolAddress as Address, zeroForOne, amount, limit],
  });
  const { status } = await reader.waitForTransactionReceipt({ hash });
  if (status !== 'success') throw new Error(`The swap at ${poolAddress} failed`);
}

let swaps = 0;
async function execute({ routes }: Plan): Promise<void> {
  for (const { legs } of routes) {
    let amount = BigInt(legs[0]?.amountIn ?? 0);
    for (const leg of legs) {
      const held = await balanceOf(leg.tokenOut);
      await swap(leg, amount);
      swaps += 1;
      // The next leg trades what this one gave.
      amount = (await balanceOf(leg.tokenOut)) - held;
    }
  }
}

const before = await balanceOf(tokenOut);
for (let attempt = 1; ; attempt++) {
  const plan = await client.findRoute({ chainId: Number(chain), tokenIn, tokenOut, amountIn });
  try {
    await execute(plan);
    process.stdout.write(`planned ${plan.amountOut}, received ${(await balanceOf(tokenOut)) - before}\n`);
    break;
  } catch (error) {
    // The market may have moved since: as long as nothing was swapped, another route is as good as the first.
    if (swaps > 0 || attempt === MAX_ROUTES) throw error;
  }
}
