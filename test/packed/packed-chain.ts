import fc from 'fast-check';
import {
  type Address,
  concatHex,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  multicall3Abi,
  numberToHex,
  pad,
  parseAbi,
  type StateOverride,
} from 'viem';
import { MULTICALL3 } from '../../config/chains-schema.ts';
import { tokenAbi } from '../../devnet/abi.ts';
import { deployToken } from '../../devnet/actions.ts';
import { startAnvil } from '../../devnet/anvil.ts';
import { loadArtifact } from '../../devnet/artifacts.ts';
import { connectDevChain, type DevChain, send } from '../../devnet/dev-chain.ts';
import { deployPackedProtocol, type PackedDeployment } from '../../devnet/packed/deploy.ts';
import { deployQuoteProvider } from '../../devnet/packed/providers.ts';
import type { PackedVariant } from '../../devnet/packed/variants.ts';
import { createPool, type ExtensionSpec, evenBins } from '../../devnet/pools.ts';
import type { CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { SellAndBuyPrices } from '../../protocol/curve.ts';
import { type PricedPool, type ProviderQuote, pricePool } from '../../protocol/layouts/ladder.ts';
import { fitSide } from '../../protocol/layouts/packed/fit.ts';
import { furtherProbes, planFit } from '../../protocol/layouts/packed/fit-plan.ts';
import { poolStateOf, quoteUpTo } from '../../protocol/layouts/packed/pool-state.fixture.ts';
import { packedSimulation } from '../../protocol/layouts/packed/simulation.ts';
import { packedStorage } from '../../protocol/layouts/packed/storage.ts';
import { writeWord } from '../../protocol/layouts/packed/words.fixture.ts';
import type { SideCurve } from '../../protocol/layouts/side-curve.ts';
import { BIN_WORD, binSlot, HEAD_SLOTS } from '../../protocol/layouts/storage.ts';
import { simulatedAmounts } from '../../protocol/pool-errors.ts';
import type { PoolImmutables, PoolState } from '../../protocol/pool-state.ts';
import { tokenScale } from '../../protocol/scaling.ts';
import { openWorld } from '../harness/open-world.ts';

/** Room for several hundred simulations in one `eth_call`. */
const GAS_LIMIT = 1_000_000_000n;
const CHAIN_ID = 31_337;
const ONE = 1n << 64n;

/** Balances that the pool's own limits (104 bits a bin, 127 bits a swap) let trade at every price used here. */
export const MAX_PRICE_BITS = 18;

export interface PackedChain {
  readonly chain: DevChain;
  stop(): Promise<void>;
}

/** An empty pool of one variant, whose state tests put into its storage for single calls. */
export interface PackedTestPool {
  readonly address: Address;
  readonly provider: Address;
  readonly deployment: PackedDeployment;
  readonly immutables: PoolImmutables;
}

/** A fresh node with room for many calls in one. */
export async function startPackedChain(): Promise<PackedChain> {
  const anvil = await startAnvil({ chainId: CHAIN_ID, args: ['--gas-limit', String(GAS_LIMIT)] });
  const chain = await connectDevChain(anvil.url);
  await chain.client.setCode({ address: MULTICALL3, bytecode: loadArtifact('Multicall3').deployedBytecode });
  return { chain, stop: () => anvil.stop() };
}

/** Deploys a variant with a pool for each pair of decimals, all with these extensions. */
export async function createTestPools(
  { chain }: PackedChain,
  variant: PackedVariant,
  decimalPairs: readonly (readonly [number, number])[],
  [lowestBin, highestBin]: readonly [number, number] = [-3, 3],
  extensionsOf: (deployment: PackedDeployment) => readonly ExtensionSpec[] = () => [],
  poolCode?: Hex,
): Promise<readonly PackedTestPool[]> {
  const deployment = await deployPackedProtocol(chain, variant, poolCode);
  const pools: PackedTestPool[] = [];
  for (const [decimals0, decimals1] of decimalPairs) {
    const token0 = await deployToken(chain, { name: 'Base', symbol: 'BASE', decimals: decimals0 });
    const token1 = await deployToken(chain, { name: 'Quote', symbol: 'QUOTE', decimals: decimals1 });
    const pair = { token0, token1 };
    const quote = { bidX64: ONE, askX64: ONE, referenceX64: ONE };
    const provider = await deployQuoteProvider(chain, deployment, pair, quote);
    const address = await createPool(chain, deployment, {
      ...pair,
      priceProvider: provider,
      bins: evenBins(lowestBin, highestBin, 1_000),
      initialAmount0PerShareE18: ONE,
      initialAmount1PerShareE18: ONE,
      extensions: extensionsOf(deployment),
    });
    for (const to of [token0, token1]) {
      const data = encodeFunctionData({ abi: tokenAbi, functionName: 'mint', args: [address, PLENTY] });
      await send(chain, { from: chain.roles.trader, to, data });
    }
    pools.push({
      address,
      provider,
      deployment,
      immutables: { lowestBin, highestBin, scale: tokenScale(decimals0, decimals1) },
    });
  }
  return pools;
}

/** The same before the tests of a suite, which may use them then. */
export const startedTestPools = (...of: Parameters<typeof createTestPools>) =>
  openWorld(async () => ({ pools: await createTestPools(...of) }));

/** Any of these pools, in any state of such amounts, at any price that it can trade at. */
export const anyPricedPool = (pools: readonly PackedTestPool[], amounts: Parameters<typeof poolStateOf>[1]) =>
  fc
    .nat({ max: pools.length - 1 })
    .map((index) => pools[index] as PackedTestPool)
    .chain((pool) =>
      fc
        .tuple(poolStateOf(pool.immutables, amounts), quoteUpTo(MAX_PRICE_BITS))
        .map(([state, quote]) => ({ pool, priced: pricePool(state, quote) })),
    );

/** Of each token, so that pools can pay whatever their storage is made to say. */
const PLENTY = 1n << 200n;

/** Puts a state into a pool's storage and a quote into its provider's mouth, for one call. */
export function overrides(pool: PackedTestPool, { state, quote }: PricedPool): StateOverride {
  return [
    { address: pool.provider, code: quotingCode(quote) },
    { address: pool.address, stateDiff: stateWords(state) },
  ];
}

function stateWords(state: PoolState): { slot: Hex; value: Hex }[] {
  const total = (of: 'token0Scaled' | 'token1Scaled') => state.bins.reduce((sum, bin) => sum + bin[of], 0n);
  const head = writeWord(packedStorage.slot0, {
    pauseLevel: BigInt(state.pauseLevel),
    curBin: BigInt(state.cursor.bin),
    posInBin: state.cursor.position,
    curBinDistE6: BigInt(state.cursor.lowerDistE6),
    spreadFeeE6: BigInt(state.spreadFeeE6),
    notionalFeeE8: BigInt(state.notionalFeeE8),
  });
  const totals = (total('token1Scaled') << 128n) | total('token0Scaled');
  const bins = state.bins.map(({ token0Scaled, token1Scaled, ...shape }) =>
    writeWord(BIN_WORD, {
      token0Scaled,
      token1Scaled,
      lengthE6: BigInt(shape.lengthE6),
      addFeeBuyE6: BigInt(shape.addFeeBuyE6),
      addFeeSellE6: BigInt(shape.addFeeSellE6),
    }),
  );
  const slots = [...HEAD_SLOTS.slice(0, 2), ...bins.map((_, index) => binSlot(state.lowestBin + index))];
  return [head, totals, ...bins].map((word, index) => ({
    slot: slots[index] ?? '0x',
    value: numberToHex(word, { size: 32 }),
  }));
}

/** Code that answers any call with a quote. */
function quotingCode({ bidX64, askX64, referenceX64 }: ProviderQuote): Hex {
  const push32 = (value: bigint): Hex => concatHex(['0x7f', pad(numberToHex(value))]);
  // mstore(0, bid); mstore(32, ask); mstore(64, reference); return(0, 96)
  return concatHex([
    push32(bidX64),
    '0x5f52',
    push32(askX64),
    '0x602052',
    push32(referenceX64),
    '0x604052',
    '0x60605ff3',
  ]);
}

/** Many calls of a pool at the latest block in one `eth_call`. */
export async function callPool(
  { chain }: PackedChain,
  { address }: PackedTestPool,
  data: readonly Hex[],
  stateOverride: StateOverride = [],
): Promise<readonly CallResult[]> {
  const calls = data.map((callData) => ({ target: address, callData, allowFailure: true }));
  const call = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] });
  const answer = await chain.client.call({ to: MULTICALL3, data: call, gas: GAS_LIMIT, stateOverride });
  if (answer.data === undefined) throw new Error('aggregate3 gave no data');
  return decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: answer.data }).map(
    ({ success, returnData }) => ({ success, data: returnData }),
  );
}

/** An amount of a swap to simulate. */
export interface Probe {
  readonly zeroForOne: boolean;
  /** Raw units: positive = exact input, negative = exact output. */
  readonly amountSpecified: bigint;
}

/** What the chain's own pool takes and gives for each amount; null when the pool refuses it. */
export async function simulate(
  packedChain: PackedChain,
  pool: PackedTestPool,
  priced: PricedPool,
  probes: readonly Probe[],
): Promise<readonly ({ readonly amountIn: bigint; readonly amountOut: bigint } | null)[]> {
  const data = probes.map((probe) =>
    packedSimulation.encode(pool.deployment.variant.simulation, {
      ...probe,
      quote: priced.quote,
      trader: pool.provider,
    }),
  );
  const results = await callPool(packedChain, pool, data, overrides(pool, priced));
  return results.map((result, index) => {
    const swap = simulatedAmounts(result);
    if (!swap) return null;
    const { amount0Delta, amount1Delta } = swap;
    return probes[index]?.zeroForOne
      ? { amountIn: amount0Delta, amountOut: -amount1Delta }
      : { amountIn: amount1Delta, amountOut: -amount0Delta };
  });
}

/** Fits a side of a pool that is simulated as the plan says. Null where no fit holds. */
export async function fitOnChain(
  packedChain: PackedChain,
  pool: PackedTestPool,
  { priced, zeroForOne, draw }: { readonly priced: PricedPool; readonly zeroForOne: boolean; readonly draw: number },
): Promise<SideCurve | null> {
  const ask = (amounts: readonly bigint[]) =>
    simulate(
      packedChain,
      pool,
      priced,
      amounts.map((amountSpecified) => ({ zeroForOne, amountSpecified })),
    );
  const plan = planFit(priced, zeroForOne, draw);
  const fills = await ask(plan.probes);
  const proofs = await ask(furtherProbes(plan, fills));
  return fitSide(plan, [...fills, ...proofs], priced.quote.referenceX64);
}

const PRICES = parseAbi(['function getSellAndBuyPrices() returns (uint128 sellX64, uint128 buyX64)']);

/** The prices that the chain's own pool shows. */
export async function shownPrices(
  packedChain: PackedChain,
  pool: PackedTestPool,
  priced: PricedPool,
): Promise<SellAndBuyPrices> {
  const data = encodeFunctionData({ abi: PRICES });
  const [answer] = await callPool(packedChain, pool, [data], overrides(pool, priced));
  if (!answer?.success) return { sellX64: 0n, buyX64: 0n };
  const [sellX64, buyX64] = decodeFunctionResult({ abi: PRICES, data: answer.data });
  return { sellX64, buyX64 };
}
