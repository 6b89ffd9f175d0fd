import fc from 'fast-check';
import type { ListedPool } from '../../capture/listing/record.ts';
import { parseChainsFile } from '../../config/load-chains.ts';
import { seedAddress } from '../../test/harness/seed-pools.ts';

export const [CHAIN_A, CHAIN_B] = [31337, 31338];
export const TIERS = ['black', 'unclassified', 'red', 'yellow', 'green'] as const;
export const SORTS = ['tiered', 'tvl', 'created', 'volume', 'apr', 'apr7d', 'change', 'depth', 'persistence'] as const;
/** More on both chains together than a page may have. */
export const POOLS_PER_CHAIN = 700;

/** Each release has the same factory on both chains; that of `removed` is in the listing's rows alone. */
const FACTORIES = { v1: seedAddress(0xf1), v2: seedAddress(0xf2), v3: seedAddress(0xf3), removed: seedAddress(0xf4) };
export const RELEASES = ['v1', 'v2', 'v3'] as const;
/** Releases that are served, by chain. */
export const ENABLED: Readonly<Record<number, readonly string[]>> = {
  [CHAIN_A]: ['v1', 'v2'],
  [CHAIN_B]: ['v1', 'v3'],
};
const chain = { rpcUrls: ['http://127.0.0.1:1'], blockTimeMs: 1_000 };
const deployments = (chainId: number) =>
  RELEASES.map((contractVersion) => ({
    layout: 'flat',
    fromBlock: 0,
    contractVersion,
    poolFactory: FACTORIES[contractVersion],
    enabled: ENABLED[chainId]?.includes(contractVersion),
  }));
export const { chains } = parseChainsFile(
  {
    chains: [
      { ...chain, chainId: CHAIN_A, name: 'a', deployments: deployments(CHAIN_A) },
      { ...chain, chainId: CHAIN_B, name: 'b', deployments: deployments(CHAIN_B) },
    ],
  },
  'test',
);

/** Few different keys, so that most are equal to others; the same addresses on both chains. */
export const pools: readonly ListedPool[] = fc
  .sample(
    fc.record({
      contractVersion: fc.constantFrom(...RELEASES, 'removed' as const),
      createdBlockNumber: fc.integer({ min: 1, max: 9 }),
      tier: fc.constantFrom(...TIERS),
      tvlFiat: fc.constantFrom(null, 0, 9.99, 10, 500.25, 1e22),
      volumeFiat: fc.constantFrom(null, 0, 5, 1_000),
      isShown: fc.constantFrom(true, true, false),
      aprBps: fc.constantFrom(null, 0, 3),
      aprBps7d: fc.constantFrom(null, 0, 700),
      lockedPricing: fc.boolean(),
      depositAllowlist: fc.boolean(),
    }),
    { numRuns: 2 * POOLS_PER_CHAIN, seed: 7 },
  )
  .map(({ isShown, ...keys }, index) => {
    const pool = seedAddress(0x1000 + (index % POOLS_PER_CHAIN));
    const chainId = index < POOLS_PER_CHAIN ? CHAIN_A : CHAIN_B;
    const shown = { chain: chainId === CHAIN_A ? 'a' : 'b', poolAddress: pool };
    return {
      ...keys,
      chainId,
      pool,
      tierRank: TIERS.indexOf(keys.tier),
      factory: FACTORIES[keys.contractVersion],
      token0: seedAddress(1),
      token1: seedAddress(2),
      record: JSON.stringify(shown),
      analytics: JSON.stringify({ tvlFiat: isShown ? keys.tvlFiat : null }),
      searchTerms: [],
      shownTvlFiat: isShown ? keys.tvlFiat : null,
      shownVolumeFiat: isShown ? keys.volumeFiat : null,
      lpFeesFiat: null,
      lpFeesFiat7d: null,
    };
  });

type Trend = { readonly changeE6: number | null; readonly depthFiat: number | null };
const UNKNOWN: Trend = { changeE6: null, depthFiat: null };
/** Of most pools; some have none, or one that is too old. */
export const trends = new Map<ListedPool, Trend & { readonly isOld: boolean }>();
const anyTrend = fc.record({
  changeE6: fc.constantFrom(null, -5e30, -1, 0, 250_000),
  depthFiat: fc.constantFrom(null, 0, 0.25, 1e22),
  isOld: fc.constantFrom(true, false, false),
});
for (const [index, trend] of fc.sample(fc.option(anyTrend), { numRuns: pools.length, seed: 8 }).entries()) {
  const pool = pools[index];
  if (pool && trend) trends.set(pool, trend);
}
export const trendOf = (pool: ListedPool): Trend => {
  const { isOld, ...trend } = trends.get(pool) ?? { ...UNKNOWN, isOld: true };
  return isOld ? UNKNOWN : trend;
};

type Held = {
  readonly medianBps: number;
  readonly p95Bps: number;
  readonly withdrawnShare: number;
  readonly goneShare: number | null;
};
/** Of most pools, whether quotes held; of some too old. */
export const persistences = new Map<ListedPool, Held & { readonly isOld: boolean }>();
const anyHeld = fc.record({
  medianBps: fc.constantFrom(-1.5, 0),
  p95Bps: fc.constantFrom(-0.01, 0, 5, 5.01, 10_000),
  withdrawnShare: fc.constantFrom(0, 0.06),
  goneShare: fc.constantFrom(null, 0.5),
  isOld: fc.constantFrom(true, false, false),
});
for (const [index, held] of fc.sample(fc.option(anyHeld), { numRuns: pools.length, seed: 9 }).entries()) {
  const pool = pools[index];
  if (pool && held) persistences.set(pool, held);
}
export const persistenceOf = (pool: ListedPool): Held | null => {
  const { isOld, ...held } = persistences.get(pool) ?? { isOld: true };
  return isOld ? null : (held as Held);
};
