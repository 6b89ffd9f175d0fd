import {
  type Address,
  concatHex,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  multicall3Abi,
  numberToHex,
  pad,
  type StateOverride,
} from 'viem';
import { MULTICALL3 } from '../../config/chains-schema.ts';
import { deployToken, fundAccounts } from '../../devnet/actions.ts';
import { startAnvil } from '../../devnet/anvil.ts';
import { type Deployment, deployProtocol } from '../../devnet/deploy.ts';
import { connectDevChain, type DevChain } from '../../devnet/dev-chain.ts';
import { createPool, NEVER, type PoolSpec } from '../../devnet/pools.ts';
import { deployManualProvider } from '../../devnet/providers.ts';
import type { BidAsk } from '../../protocol/curve.ts';
import { decodeExtsload, encodeExtsload } from '../../protocol/layouts/extsload.ts';
import { flatSimulation } from '../../protocol/layouts/flat/adapter.ts';
import { flatStorage } from '../../protocol/layouts/flat/storage.ts';
import { stateSlots } from '../../protocol/layouts/storage.ts';
import type { BinShape } from '../../protocol/pool-events.ts';
import type { PoolImmutables, PoolState } from '../../protocol/pool-state.ts';
import { tokenScale } from '../../protocol/scaling.ts';
import { decodeHead } from './flat-storage.ts';

/** Room for several hundred simulations in one `eth_call`. */
const GAS_LIMIT = 1_000_000_000n;
const CHAIN_ID = 31_337;
const ONE = 1n << 64n;

export interface PoolChain {
  readonly chain: DevChain;
  readonly deployment: Deployment;
  stop(): Promise<void>;
}

/** A fresh node with the protocol deployed. */
export async function startPoolChain(): Promise<PoolChain> {
  const anvil = await startAnvil({ chainId: CHAIN_ID, args: ['--gas-limit', String(GAS_LIMIT)] });
  const chain = await connectDevChain(anvil.url);
  const deployment = await deployProtocol(anvil.url, CHAIN_ID);
  return { chain, deployment, stop: () => anvil.stop() };
}

export interface TestPool {
  readonly address: Address;
  readonly provider: Address;
  readonly token0: Address;
  readonly token1: Address;
  readonly immutables: PoolImmutables;
}

/** A pool of two new tokens, which trader and provider hold, priced by a provider that anyone can ask. */
export async function createTestPool(
  { chain, deployment }: PoolChain,
  options: {
    readonly decimals: readonly [number, number];
    readonly bins: readonly BinShape[];
    readonly quote?: BidAsk;
    readonly spec?: Partial<PoolSpec>;
  },
): Promise<TestPool> {
  const [decimals0, decimals1] = options.decimals;
  const first = await deployToken(chain, { name: 'Base', symbol: 'BASE', decimals: decimals0 });
  const second = await deployToken(chain, { name: 'Quote', symbol: 'QUOTE', decimals: decimals1 });
  const accounts = [chain.roles.trader, chain.roles.provider];
  for (const token of [first, second]) {
    await fundAccounts(chain, deployment, token, { accounts, amount: 1n << 126n });
  }
  const quote = options.quote ?? { bidX64: ONE, askX64: ONE + (ONE >> 10n) };
  const pair = { token0: first, token1: second };
  const provider = options.spec?.priceProvider ?? (await deployManualProvider(chain, pair, quote));
  const address = await createPool(chain, deployment, {
    ...pair,
    priceProvider: provider,
    bins: options.bins,
    initialAmount0PerShareE18: 10n ** BigInt(decimals0),
    initialAmount1PerShareE18: 10n ** BigInt(decimals1),
    priceProviderTimelock: NEVER,
    ...options.spec,
  });
  const numbers = options.bins.map(({ bin }) => bin);
  const [lowestBin, highestBin] = [Math.min(...numbers), Math.max(...numbers)];
  return { ...pair, address, provider, immutables: { lowestBin, highestBin, scale: tokenScale(decimals0, decimals1) } };
}

export interface Call {
  readonly to: Address;
  readonly data: Hex;
}

export interface CallResult {
  readonly success: boolean;
  readonly returnData: Hex;
}

/** Many calls at the latest block in one `eth_call`. */
export async function callMany(
  { chain }: PoolChain,
  calls: readonly Call[],
  stateOverride: StateOverride = [],
): Promise<readonly CallResult[]> {
  const aggregated = calls.map(({ to, data }) => ({ target: to, callData: data, allowFailure: true }));
  const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [aggregated] });
  const answer = await chain.client.call({ to: MULTICALL3, data, gas: GAS_LIMIT, stateOverride });
  if (answer.data === undefined) throw new Error('aggregate3 gave no data');
  return decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: answer.data });
}

/** The pool as the chain stores it now. */
export async function readState(poolChain: PoolChain, { address, immutables }: TestPool) {
  const slots = stateSlots(immutables);
  const [result] = await callMany(poolChain, [{ to: address, data: encodeExtsload(slots) }]);
  if (!result?.success) throw new Error('extsload failed');
  const words = decodeExtsload(result.returnData);
  return { head: decodeHead(words), state: flatStorage.decodeState(immutables, words) };
}

/** Calldata of a simulated swap: positive amount = exact input, negative = exact output, raw units. */
export function simulation(pool: TestPool, quote: BidAsk, zeroForOne: boolean, amountSpecified: bigint): Call {
  const order = { zeroForOne, amountSpecified, quote: { ...quote, referenceX64: 0n }, trader: pool.address };
  return { to: pool.address, data: flatSimulation.encode('flat', order) };
}

/** Code that answers any call with a quote. */
export function quotingCode({ bidX64, askX64 }: BidAsk): Hex {
  const push32 = (value: bigint): Hex => concatHex(['0x7f', pad(numberToHex(value))]);
  // mstore(0, bid); mstore(32, ask); return(0, 64)
  return concatHex([push32(bidX64), '0x5f52', push32(askX64), '0x602052', '0x60405ff3']);
}

/** Bins between two numbers, all alike. */
export function evenShapes(lowest: number, highest: number, lengthE6 = 1_000): BinShape[] {
  const shape = { lengthE6, addFeeBuyE6: 0, addFeeSellE6: 0 };
  return Array.from({ length: highest - lowest + 1 }, (_, index) => ({ bin: lowest + index, ...shape }));
}

/** All balances of a state's bins. */
export function totalsOf(state: PoolState) {
  return state.bins.reduce(
    (sum, bin) => ({
      token0Scaled: sum.token0Scaled + bin.token0Scaled,
      token1Scaled: sum.token1Scaled + bin.token1Scaled,
    }),
    { token0Scaled: 0n, token1Scaled: 0n },
  );
}
