import { type Address, decodeErrorResult, decodeFunctionResult, encodeFunctionData, type Hex, numberToHex } from 'viem';
import { quoterAbi, routerAbi } from '../abi.ts';
import type { SwapAmounts, SwapOrder } from '../actions.ts';
import type { DevChain } from '../dev-chain.ts';
import { RpcError, request } from '../json-rpc.ts';
import { packedPoolErrors, packedStopLossAbi } from '../packed/abi.ts';
import { poolErrors, priceVelocityGuardAbi, providerAbi, stopLossAbi } from '../protocol-abi.ts';
import type { LiveTrade } from './build-block.ts';
import type { LivePool } from './live-pools.ts';
import type { AccountWords } from './pending-updates.ts';

/** Every error that a swap of a live pool may meet. */
const errors = [
  ...poolErrors,
  ...packedPoolErrors,
  ...providerAbi,
  ...stopLossAbi,
  ...packedStopLossAbi,
  ...priceVelocityGuardAbi,
];

/** What a call at the head pretends: storage words, and the block that it runs in. */
export interface Overrides {
  readonly words?: AccountWords;
  readonly block?: { readonly number: bigint; readonly timeSecs: bigint };
}

/** Amounts, or the error of the provider that the pool passes on, as `FeedStalled`, or that of the pool. */
export type CallOutcome = SwapAmounts | string;

/** The swap that a quoter starts and takes back: it ends before guards that run after a swap. */
export async function quoteAt(
  chain: DevChain,
  pool: LivePool,
  { zeroForOne, amountSpecified }: Omit<SwapOrder, 'pool'>,
  overrides: Overrides = {},
): Promise<CallOutcome> {
  const call = { abi: quoterAbi, functionName: 'quote' } as const;
  const data = encodeFunctionData({ ...call, args: [pool.address, zeroForOne, amountSpecified] });
  return outcomeOf(callAt(chain, { to: pool.quoter, data }, overrides), (result) => {
    const [amount0Delta, amount1Delta] = decodeFunctionResult({ ...call, data: result });
    return { amount0Delta, amount1Delta };
  });
}

/** The call of a trade, guards included. */
export async function tradeAt(
  chain: DevChain,
  { transaction: { from, to, data } }: LiveTrade,
  overrides: Overrides = {},
): Promise<CallOutcome> {
  return outcomeOf(callAt(chain, { from, ...(to && { to }), data }, overrides), (result) => {
    const [amount0Delta, amount1Delta] = decodeFunctionResult({ abi: routerAbi, functionName: 'swap', data: result });
    return { amount0Delta, amount1Delta };
  });
}

/** @throws RpcError when the call reverts */
function callAt(
  chain: DevChain,
  call: { readonly from?: Address; readonly to?: Address; readonly data: Hex },
  { words, block }: Overrides,
): Promise<Hex> {
  const state = Object.entries(words ?? {}).map(([account, stateDiff]) => [account, { stateDiff }]);
  const blockOverride = block && { number: numberToHex(block.number), time: numberToHex(block.timeSecs) };
  const params = [call, 'latest', Object.fromEntries(state), ...(blockOverride ? [blockOverride] : [])];
  return request<Hex>(chain.rpcUrl, 'eth_call', params);
}

async function outcomeOf(call: Promise<Hex>, decode: (result: Hex) => SwapAmounts): Promise<CallOutcome> {
  try {
    return decode(await call);
  } catch (error) {
    if (error instanceof RpcError && error.data !== undefined) return errorName(error.data);
    throw error;
  }
}

function errorName(data: Hex): string {
  const error = decodeErrorResult({ abi: errors, data });
  return error.errorName === 'PriceProviderFailed' ? errorName(error.args[0]) : error.errorName;
}
