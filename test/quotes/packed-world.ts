import type { Address } from 'viem';
import { expect, vi } from 'vitest';
import { MULTICALL3 } from '../../config/chains-schema.ts';
import { loadArtifact } from '../../devnet/artifacts.ts';
import { PackedMarket } from '../../devnet/packed/market.fixture.ts';
import { PACKED_VARIANTS, type PackedVariant } from '../../devnet/packed/variants.ts';
import type { PricedPool } from '../../protocol/layouts/ladder.ts';
import { packedSimulation } from '../../protocol/layouts/packed/simulation.ts';
import { simulatedAmounts } from '../../protocol/pool-errors.ts';
import type { CurveReport } from '../../quoting/snapshot-metrics.ts';
import type { Logger } from '../../runtime/logger.ts';
import { openWorld } from '../harness/open-world.ts';
import {
  callPool,
  createTestPools,
  type PackedChain,
  type PackedTestPool,
  type Probe,
} from '../packed/packed-chain.ts';
import { type Level, tradingLevels } from './chain-curve.ts';
import { type QuoteApi, quoteApi } from './quote-api.ts';
import { chainConfig, eagerQuotes } from './quote-world.ts';
import { fixedDirectory, servedPool } from './served-pool.ts';

const DECIMALS = [
  [18, 18],
  [18, 6],
  [6, 18],
] as const;

/** Pools of one variant that are served. */
export interface VariantPools {
  readonly variant: PackedVariant;
  readonly pools: readonly PackedTestPool[];
}

export interface PackedApi extends QuoteApi {
  /** Searches for curves so far, in order. */
  readonly reports: CurveReport[];
}

/** A market on a chain that answers many calls in one. */
export async function openPackedMarket(variant: PackedVariant): Promise<PackedMarket> {
  const market = await PackedMarket.open(variant);
  const { client } = market.setup.chain;
  await client.setCode({ address: MULTICALL3, bytecode: loadArtifact('Multicall3').deployedBytecode });
  return market;
}

/** The same for the tests of a suite, after which its chain ends. */
export const startedPackedMarket = (variant: PackedVariant) =>
  openWorld(async (ends) => ({
    market: ends.adopt(await openPackedMarket(variant), ({ setup }) => setup.anvil.stop()),
  }));

export async function createVariants(packedChain: PackedChain): Promise<readonly VariantPools[]> {
  const all: VariantPools[] = [];
  for (const variant of PACKED_VARIANTS) {
    all.push({ variant, pools: await createTestPools(packedChain, variant, DECIMALS) });
  }
  return all;
}

/** The service over these pools. */
export async function packedApi(
  { chain }: Pick<PackedChain, 'chain'>,
  pools: readonly Pick<PackedTestPool, 'address' | 'deployment'>[],
  quotes = eagerQuotes,
  node = chain.rpcUrl,
  logger?: Logger,
): Promise<PackedApi> {
  const served = await Promise.all(
    pools.map(({ address, deployment }) => servedPool(chain, deployment, address, 'bidAsk', 'packed')),
  );
  const reports: CurveReport[] = [];
  const countCurve = (report: CurveReport) => reports.push(report);
  const config = chainConfig(chain.chainId, [node], { blockTimeMs: 1 });
  const deps = { chain: config, directory: fixedDirectory(served), quotes, countCurve };
  return { ...quoteApi({ ...deps, ...(logger && { logger }) }), reports };
}

const SEEN = { interval: 5 };

/** Has the service see the newest block, which it else shows a second late. */
export async function mineAndSee(
  { chain }: Pick<PackedChain, 'chain'>,
  api: PackedApi,
  { address }: Pick<PackedTestPool, 'address'>,
): Promise<void> {
  await chain.client.mine({ blocks: 1 });
  const number = Number(await chain.client.getBlockNumber());
  await vi.waitFor(async () => {
    const { headers } = await api.request(`/public/v1/evm/${chain.chainId}/${address}/bid_ask?depth=false`);
    expect(Number(headers.get('X-Block-Number'))).toBeGreaterThanOrEqual(number);
  }, SEEN);
}

/**
 * Levels of a quote that are not on the pool's own curve: their input gives less than they say, or less input by two
 * units and a part of 10^12 gives more.
 */
export async function levelsOffCurve(
  packedChain: PackedChain,
  pool: PackedTestPool,
  { quote }: PricedPool,
  depth: { readonly bids: readonly Level[]; readonly asks: readonly Level[] },
): Promise<readonly Level[]> {
  const form = pool.deployment.variant.simulation;
  const requested = [true, false].flatMap((zeroForOne) =>
    tradingLevels(zeroForOne ? depth.bids : depth.asks).map((level) => {
      const input = BigInt(level.cumulativeInputVolume);
      return { level, zeroForOne, input, less: input - 2n - input / 10n ** 12n };
    }),
  );
  const probes = requested.flatMap(({ zeroForOne, input, less }): Probe[] =>
    [input, less > 0n ? less : 1n].map((amountSpecified) => ({ zeroForOne, amountSpecified })),
  );
  const data = probes.map((probe) => packedSimulation.encode(form, { ...probe, quote, trader: pool.provider }));
  const results = await callPool(packedChain, pool, data);
  const given = results.map((result, index) => {
    const swap = simulatedAmounts(result);
    if (!swap) return null;
    return -(probes[index]?.zeroForOne ? swap.amount1Delta : swap.amount0Delta);
  });
  return requested.flatMap(({ level, less }, index) => {
    const output = BigInt(level.cumulativeVolume);
    const [enough, tooLittle] = [given[2 * index] ?? -1n, given[2 * index + 1] ?? 0n];
    return enough >= output && (less <= 0n || tooLittle <= output) ? [] : [level];
  });
}

/** The method by which a pool's depth was last found. */
export const lastMethod = ({ reports }: PackedApi, pool: Address) =>
  reports.findLast((report) => report.pool === pool)?.method;
