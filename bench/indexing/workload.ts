import { type Address, encodeFunctionData, type Hex, numberToHex } from 'viem';
import { routerAbi } from '../../devnet/abi.ts';
import { addLiquidity, deployToken, fundAccounts, noPriceLimit } from '../../devnet/actions.ts';
import { type Anvil, startAnvil } from '../../devnet/anvil.ts';
import { type Deployment, deployProtocol } from '../../devnet/deploy.ts';
import { connectDevChain, type DevChain } from '../../devnet/dev-chain.ts';
import { request } from '../../devnet/json-rpc.ts';
import { deployPackedProtocol, packedStopLossExtension } from '../../devnet/packed/deploy.ts';
import { deployQuoteProvider } from '../../devnet/packed/providers.ts';
import { packedVariant } from '../../devnet/packed/variants.ts';
import { createPool, type ExtensionSpec, evenBins, stopLossExtension, velocityExtension } from '../../devnet/pools.ts';
import { deployManualProvider, type PricedPair } from '../../devnet/providers.ts';
import { eventLayouts } from '../../protocol/layouts/event-layouts.ts';

export type Layout = keyof typeof eventLayouts;

export const isLayout = (name: string): name is Layout => Object.hasOwn(eventLayouts, name);

export interface LoadedChain {
  readonly anvil: Anvil;
  readonly chain: DevChain;
  readonly layout: Layout;
  readonly deployment: Pick<
    Deployment,
    'fromBlock' | 'poolFactory' | 'stopLoss' | 'priceVelocityGuard' | 'swapRouter' | 'liquidityAdder'
  >;
  readonly multicall3: Address;
  readonly pools: readonly Address[];
}

/** What differs between layouts when a pool is made. */
interface LayoutParts {
  readonly deployment: LoadedChain['deployment'];
  readonly deployProvider: (pair: PricedPair) => Promise<Address>;
  readonly guards: readonly ExtensionSpec[];
  /** One token1 per share, in the layout's unit. */
  readonly initialAmount1PerShareE18: bigint;
}

const Q64 = 1n << 64n;
const E18 = 10n ** 18n;
const QUOTE = { bidX64: (Q64 * 9_995n) / 10_000n, askX64: (Q64 * 10_005n) / 10_000n };
/** A fortune of either token, so that no swap fails for want of it. */
const FORTUNE = 10n ** 30n;
const BINS_PER_SIDE = 5;
const SWAPS_PER_BLOCK = 50;
const SWAP_GAS = 1_500_000n;
/** Ponder indexes the newest blocks one by one: this many empty ones make all before them history. */
const FINALITY_BLOCKS = 40;
const BLOCK_GAS_LIMIT = '400000000';
/** Blocks are mined faster than their timestamps say, so the chain begins this long ago. */
const HISTORY_SECS = 3 * 3_600;
/** As on a chain with such blocks: with every block in a second of its own, a pool's every swap begins new totals. */
export const BLOCK_TIME_SECS = 1;

/** A chain with funded pools, a quarter of them guarded by StopLoss and PriceVelocityGuard. */
export async function startChain(chainId: number, poolCount: number, layout: Layout): Promise<LoadedChain> {
  const genesis = Math.floor(Date.now() / 1_000) - HISTORY_SECS;
  const args = ['--gas-limit', BLOCK_GAS_LIMIT, '--timestamp', String(genesis)];
  const anvil = await startAnvil({ chainId, args });
  const flat = await deployProtocol(anvil.url, chainId);
  const chain = await connectDevChain(anvil.url);
  const parts = layout === 'flat' ? flatParts(chain, flat) : await packedParts(chain);
  const { deployment, guards, initialAmount1PerShareE18 } = parts;
  const token0 = await deployToken(chain, { name: 'Base', symbol: 'BASE', decimals: 18 });
  const token1 = await deployToken(chain, { name: 'Quote', symbol: 'QUOTE', decimals: 6 });
  const accounts = [chain.roles.provider, chain.roles.trader];
  for (const token of [token0, token1]) await fundAccounts(chain, deployment, token, { accounts, amount: FORTUNE });
  const priceProvider = await parts.deployProvider({ token0, token1 });
  const bins = evenBins(-BINS_PER_SIDE, BINS_PER_SIDE, 1_000);
  const pools: Address[] = [];
  for (let index = 0; index < poolCount; index++) {
    const pool = await createPool(chain, deployment, {
      token0,
      token1,
      priceProvider,
      bins,
      initialAmount0PerShareE18: E18,
      initialAmount1PerShareE18,
      adminNotionalFeeE8: 1_000,
      salt: numberToHex(index + 1, { size: 32 }),
      extensions: index % 4 === 0 ? guards : [],
    });
    const shares = bins.map(({ bin }) => ({ bin, shares: 1_000n * E18 }));
    await addLiquidity(chain, deployment, { pool, owner: chain.roles.provider, bins: shares });
    pools.push(pool);
  }
  return { anvil, chain, layout, deployment, multicall3: flat.multicall3, pools };
}

function flatParts(chain: DevChain, deployment: Deployment): LayoutParts {
  const settings = { drawdownE6: 150_000, decayPerSecondE8: 1, timelockSecs: 2 ** 32 - 1 };
  return {
    deployment,
    deployProvider: (pair) => deployManualProvider(chain, pair, QUOTE),
    guards: [stopLossExtension(deployment, settings), velocityExtension(deployment, E18)],
    initialAmount1PerShareE18: 10n ** 6n,
  };
}

async function packedParts(chain: DevChain): Promise<LayoutParts> {
  const deployment = await deployPackedProtocol(chain, packedVariant('older'));
  const settings = { drawdownE6: 150_000, decayPerSecondE18: 10n ** 10n, timelockSecs: 2 ** 32 - 1 };
  return {
    deployment,
    deployProvider: (pair) => deployQuoteProvider(chain, deployment, pair, { ...QUOTE, referenceX64: Q64 }),
    guards: [packedStopLossExtension(deployment, settings), velocityExtension(deployment, E18)],
    initialAmount1PerShareE18: E18,
  };
}

/**
 * Swaps back and forth through a few bins at a time until the chain has this many more logs of pools; returns how many.
 */
export async function addTraffic(loaded: LoadedChain, atLeast: number): Promise<number> {
  const { chain, layout, deployment, pools } = loaded;
  const events = eventLayouts[layout].abi.pool;
  await chain.client.setAutomine(false);
  await chain.client.setBlockTimestampInterval({ interval: BLOCK_TIME_SECS });
  let logs = 0;
  for (let swaps = 0; logs < atLeast; swaps += SWAPS_PER_BLOCK) {
    const from = await chain.client.getBlockNumber();
    const orders = Array.from({ length: SWAPS_PER_BLOCK }, (_, index) => swapOf(swaps + index, pools));
    await sendAll(chain, deployment.swapRouter, orders);
    await chain.client.mine({ blocks: 1 });
    logs += (await chain.client.getLogs({ fromBlock: from + 1n, events })).length;
  }
  await chain.client.mine({ blocks: FINALITY_BLOCKS });
  await chain.client.removeBlockTimestampInterval();
  await chain.client.setAutomine(true);
  return logs;
}

/** Sends a swap of this pool of the chain; it is mined with the next block. Returns the transaction's hash. */
export function sendSwap({ chain, deployment, pools }: LoadedChain, poolIndex: number): Promise<Hex> {
  const call = { from: chain.roles.trader, to: deployment.swapRouter, data: swapOf(poolIndex, pools) };
  return request(chain.rpcUrl, 'eth_sendTransaction', [{ ...call, gas: numberToHex(SWAP_GAS) }]);
}

/** The n-th swap: pools take turns; of a pool's swaps every other goes back, through one to four bins. */
function swapOf(n: number, pools: readonly Address[]): Hex {
  const pool = pools[n % pools.length];
  if (pool === undefined) throw new RangeError('no pools');
  const round = Math.floor(n / pools.length);
  const zeroForOne = round % 2 === 0;
  const whole = 700n * BigInt(1 + ((round >> 1) % 4)) + BigInt(n % 97);
  const amount = zeroForOne ? whole * E18 : whole * 10n ** 6n;
  const args = [pool, zeroForOne, amount, noPriceLimit(zeroForOne)] as const;
  return encodeFunctionData({ abi: routerAbi, functionName: 'swap', args });
}

async function sendAll(chain: DevChain, to: Address, calls: readonly Hex[]): Promise<void> {
  const from = chain.roles.trader;
  const requests = calls.map((data, id) => ({
    jsonrpc: '2.0',
    id,
    method: 'eth_sendTransaction',
    params: [{ from, to, data, gas: numberToHex(SWAP_GAS) }],
  }));
  const response = await fetch(chain.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(requests),
  });
  const answers = (await response.json()) as readonly { readonly error?: { readonly message: string } }[];
  const failed = answers.find(({ error }) => error !== undefined);
  if (failed) throw new Error(`eth_sendTransaction: ${failed.error?.message}`);
}
