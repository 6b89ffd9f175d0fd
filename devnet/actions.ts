import {
  type Address,
  type ContractFunctionArgs,
  type ContractFunctionName,
  decodeAbiParameters,
  encodeFunctionData,
  getAbiItem,
  type Hex,
  type Log,
  parseEventLogs,
  type TransactionReceipt,
} from 'viem';
import { MAX_UINT128, MAX_UINT256 } from '../protocol/fixed-point.ts';
import { liquidityAdderAbi, routerAbi, tokenAbi } from './abi.ts';
import { type Deployment, deployContract } from './deploy.ts';
import { type DevChain, send, staticCall, type Transaction } from './dev-chain.ts';
import { factoryAbi, flatPoolAbi } from './protocol-abi.ts';

/** Shares to add to or remove from one bin. */
export interface BinShares {
  readonly bin: number;
  readonly shares: bigint;
}

/** Positive amount: exact input; negative: exact output. Raw units. */
export interface SwapOrder {
  readonly pool: Address;
  readonly zeroForOne: boolean;
  readonly amountSpecified: bigint;
  /** Q64.64; default: none. */
  readonly priceLimitX64?: bigint;
}

/** Raw units, positive into the pool. */
export interface SwapAmounts {
  readonly amount0Delta: bigint;
  readonly amount1Delta: bigint;
}

/** The limit that never binds. */
export function noPriceLimit(zeroForOne: boolean): bigint {
  return zeroForOne ? 0n : MAX_UINT128;
}

/** Deploys an ordinary ERC-20 that anyone can mint. */
export async function deployToken(
  chain: DevChain,
  token: { readonly name: string; readonly symbol: string; readonly decimals: number },
): Promise<Address> {
  return deployContract(chain, 'Token', [token.name, token.symbol, token.decimals]);
}

/** Gives accounts a lot of a token and lets router and liquidity adder take it. */
export async function fundAccounts(
  chain: DevChain,
  deployment: Pick<Deployment, 'swapRouter' | 'liquidityAdder'>,
  token: Address,
  { accounts, amount }: { readonly accounts: readonly Address[]; readonly amount: bigint },
): Promise<void> {
  for (const account of accounts) {
    const mint = encodeFunctionData({ abi: tokenAbi, functionName: 'mint', args: [account, amount] });
    await send(chain, { from: account, to: token, data: mint });
    for (const spender of [deployment.swapRouter, deployment.liquidityAdder]) {
      const approve = encodeFunctionData({ abi: tokenAbi, functionName: 'approve', args: [spender, MAX_UINT256] });
      await send(chain, { from: account, to: token, data: approve });
    }
  }
}

export async function balanceOf(chain: DevChain, token: Address, account: Address): Promise<bigint> {
  const data = encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [account] });
  return decodeAbiParameters([{ type: 'uint256' }], (await staticCall(chain, { to: token, data })).data)[0];
}

/** Shares that an owner adds or removes. */
interface LiquidityOrder {
  readonly pool: Address;
  readonly owner: Address;
  readonly salt?: bigint;
  readonly bins: readonly BinShares[];
}

/** Adds shares for the owner, who pays. Returns raw amounts paid. */
export async function addLiquidity(
  chain: DevChain,
  deployment: Pick<Deployment, 'liquidityAdder'>,
  order: LiquidityOrder,
): Promise<void> {
  const args = [order.pool, order.salt ?? 0n, liquidityDelta(order.bins)] as const;
  const data = encodeFunctionData({ abi: liquidityAdderAbi, functionName: 'addLiquidity', args });
  await send(chain, { from: order.owner, to: deployment.liquidityAdder, data });
}

/** Removes the owner's shares. */
export async function removeLiquidity(chain: DevChain, order: LiquidityOrder): Promise<void> {
  const args = [order.owner, order.salt ?? 0n, liquidityDelta(order.bins), '0x'] as const;
  const data = encodeFunctionData({ abi: flatPoolAbi, functionName: 'removeLiquidity', args });
  await send(chain, { from: order.owner, to: order.pool, data });
}

function liquidityDelta(bins: readonly BinShares[]) {
  return { binIdxs: bins.map(({ bin }) => BigInt(bin)), shares: bins.map(({ shares }) => shares) };
}

/**
 * Swaps through the router, which the trader has approved.
 *
 * @throws RevertedError when the pool or an extension refuses
 */
export async function swap(
  chain: DevChain,
  deployment: Deployment,
  order: SwapOrder & { readonly trader?: Address },
): Promise<SwapAmounts> {
  return swapAmounts((await sendSwap(chain, deployment, order)).logs);
}

/** viem hashes every event of the ABI that it is given, each time. */
const SWAP_EVENT = [getAbiItem({ abi: flatPoolAbi, name: 'Swap' })];

/** What a swap of a flat pool moved, by its logs. */
export function swapAmounts(logs: Log[]): SwapAmounts {
  const [event] = parseEventLogs({ abi: SWAP_EVENT, logs });
  if (event === undefined) throw new Error('the swap emitted no Swap');
  return { amount0Delta: event.args.amount0Delta, amount1Delta: event.args.amount1Delta };
}

/** The transaction of a swap of either generation. Throws as {@link swap}. */
export function sendSwap(
  chain: DevChain,
  deployment: Pick<Deployment, 'swapRouter'>,
  order: SwapOrder & { readonly trader?: Address },
): Promise<TransactionReceipt> {
  return send(chain, swapCall(chain, deployment, order));
}

/** Call of the router that swaps in a pool of either generation. */
export function swapCall(
  { roles }: DevChain,
  { swapRouter }: Pick<Deployment, 'swapRouter'>,
  order: SwapOrder & { readonly trader?: Address },
): Transaction {
  const { pool, zeroForOne, amountSpecified, priceLimitX64 = noPriceLimit(zeroForOne) } = order;
  const args = [pool, zeroForOne, amountSpecified, priceLimitX64] as const;
  const data = encodeFunctionData({ abi: routerAbi, functionName: 'swap', args });
  return { from: order.trader ?? roles.trader, to: swapRouter, data };
}

/** Revert data of a simulated swap at this quote: `SimulateSwap` with the amounts, or a refusal. */
export async function simulateSwap(
  chain: DevChain,
  order: SwapOrder & { readonly bidX64: bigint; readonly askX64: bigint; readonly from?: Address },
): Promise<Hex> {
  const { pool, zeroForOne, amountSpecified, priceLimitX64 = noPriceLimit(zeroForOne) } = order;
  const from = order.from ?? chain.roles.trader;
  const data = encodeFunctionData({
    abi: flatPoolAbi,
    functionName: 'simulateSwapAndRevert',
    args: [from, zeroForOne, amountSpecified, priceLimitX64, order.bidX64, order.askX64, '0x'],
  });
  return (await staticCall(chain, { from, to: pool, data })).data;
}

/** What a pool shows as its prices, or its revert data. */
export async function sellAndBuyPrices(
  chain: DevChain,
  pool: Address,
): Promise<{ readonly sellX64: bigint; readonly buyX64: bigint } | { readonly refusal: Hex }> {
  const data = encodeFunctionData({ abi: flatPoolAbi, functionName: 'getSellAndBuyPrices' });
  const answer = await staticCall(chain, { to: pool, data });
  if (answer.reverted) return { refusal: answer.data };
  const uint128 = { type: 'uint128' } as const;
  const [sellX64, buyX64] = decodeAbiParameters([uint128, uint128], answer.data);
  return { sellX64, buyX64 };
}

/** Reads storage words of a pool in one call. */
export async function extsload(chain: DevChain, pool: Address, slots: readonly Hex[]): Promise<readonly Hex[]> {
  const data = encodeFunctionData({ abi: flatPoolAbi, functionName: 'extsload', args: [slots] });
  const answer = await staticCall(chain, { to: pool, data });
  if (answer.reverted) throw new Error(`extsload of ${pool} reverted`);
  return decodeAbiParameters([{ type: 'bytes32[]' }], answer.data)[0];
}

/** A call of a factory. */
export type FactoryCall<Name, Args> = { readonly from: Address; readonly functionName: Name; readonly args: Args };

type AdminFunction = Exclude<ContractFunctionName<typeof factoryAbi, 'nonpayable'>, 'createPool'>;

/** Any administration of the factory, as `{ from: curator, functionName: 'pausePool', args: [pool] }`. */
export async function administer<F extends AdminFunction>(
  chain: DevChain,
  deployment: Pick<Deployment, 'poolFactory'>,
  { from, functionName, args }: FactoryCall<F, ContractFunctionArgs<typeof factoryAbi, 'nonpayable', F>>,
): Promise<void> {
  const data = encodeFunctionData({ abi: factoryAbi, functionName, args } as never);
  await send(chain, { from, to: deployment.poolFactory, data });
}
