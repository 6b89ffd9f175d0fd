import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, type Log } from 'viem';
import { type SwapAmounts, sellAndBuyPrices, swapCall } from '../../devnet/actions.ts';
import type { DevChain } from '../../devnet/dev-chain.ts';
import { request } from '../../devnet/json-rpc.ts';
import { flatPoolAbi } from '../../devnet/protocol-abi.ts';

/** Distances from mid, basis points. */
export const DISTANCES = [10n, 25n, 50n, 100n] as const;

/** A pool of a devnet, and how it is swapped. */
export interface TriedPool {
  readonly chain: DevChain;
  readonly address: Address;
  readonly swapRouter: Address;
  /** What a swap moved, by its logs. */
  readonly amountsOf: (logs: Log[]) => SwapAmounts;
}

/** @throws Error when the pool shows no prices */
export async function pricesOf({ chain, address }: Pick<TriedPool, 'chain' | 'address'>) {
  const read = await sellAndBuyPrices(chain, address);
  if ('refusal' in read) throw new Error(read.refusal);
  return read;
}

const PRICES = { abi: flatPoolAbi, functionName: 'getSellAndBuyPrices' } as const;
const pricesCall = encodeFunctionData(PRICES);

interface Executed {
  readonly status: Hex;
  readonly returnData: Hex;
  readonly logs: Log[];
}

/**
 * What a swap of this exact input takes and gives, and the prices after it: executed by the node in a block that it
 * then forgets; null when the pool rejects it.
 */
async function trySwap(pool: TriedPool, zeroForOne: boolean, input: bigint) {
  const { chain, address, amountsOf } = pool;
  const order = { pool: address, zeroForOne, amountSpecified: input };
  const calls = [swapCall(chain, pool, order), { to: address, data: pricesCall }];
  const [block] = await request<{ calls: Executed[] }[]>(chain.rpcUrl, 'eth_simulateV1', [
    { blockStateCalls: [{ calls }] },
    'latest',
  ]);
  const [swapped, priced] = block?.calls ?? [];
  if (swapped?.status !== '0x1') return null;
  if (priced?.status !== '0x1') throw new Error(`no prices after a swap: ${priced?.returnData}`);
  const { amount0Delta, amount1Delta } = amountsOf(swapped.logs);
  const [taken, given] = zeroForOne ? [amount0Delta, -amount1Delta] : [amount1Delta, -amount0Delta];
  const [sellX64, buyX64] = decodeFunctionResult({ ...PRICES, data: priced.returnData });
  return { taken, given, sellX64, buyX64 };
}

/**
 * What the largest exact input gives after which the pool's own price is within a distance from mid:
 * found by swaps alone.
 */
export async function depthByTrying(pool: TriedPool, zeroForOne: boolean, bps: bigint): Promise<bigint> {
  const { sellX64, buyX64 } = await pricesOf(pool);
  let given = 0n;
  const isWithin = async (input: bigint) => {
    const after = await trySwap(pool, zeroForOne, input);
    if (!after) return false;
    // Compared as fractions.
    const isNear = zeroForOne
      ? after.sellX64 * 20_000n >= (sellX64 + buyX64) * (10_000n - bps)
      : after.buyX64 * 20_000n <= (sellX64 + buyX64) * (10_000n + bps);
    if (isNear && after.given > given) given = after.given;
    return isNear && after.taken === input;
  };
  let [within, beyond] = [0n, 10n ** 15n];
  while (await isWithin(beyond)) [within, beyond] = [beyond, beyond * 8n];
  while (beyond - within > 1n) {
    const middle = (within + beyond) / 2n;
    if (await isWithin(middle)) within = middle;
    else beyond = middle;
  }
  return given;
}
