import fc from 'fast-check';
import type { ListedPool } from '../../capture/listing/record.ts';
import { seedAddress } from '../../test/harness/seed-pools.ts';
import {
  CHAIN_A,
  CHAIN_B,
  ENABLED,
  POOLS_PER_CHAIN,
  persistenceOf,
  pools,
  RELEASES,
  SORTS,
  TIERS,
  trendOf,
} from './listed-pools.fixture.ts';

const mixedCase = (text: string) =>
  fc
    .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
    .map((upper) => [...text].map((letter, index) => (upper[index] ? letter.toUpperCase() : letter)).join(''));
const someOf = <T>(values: readonly T[]) => fc.subarray([...values], { minLength: 1 }).map((some) => some.join(','));
const flag = fc.constantFrom('true', 'false');
const address = fc
  .integer({ min: 0, max: POOLS_PER_CHAIN + 5 })
  .chain((n) => mixedCase(seedAddress(0x1000 + n).slice(2)))
  .map((digits) => `0x${digits}`);

export const anyQuery = fc.record(
  {
    count: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.constantFrom(50, 500, 501)).map(String),
    offset: fc.integer({ min: 0, max: 2 * POOLS_PER_CHAIN + 5 }).map(String),
    sortBy: fc.constantFrom(...SORTS).chain(mixedCase),
    sortOrder: fc.constantFrom('asc', 'desc'),
    include24h: flag,
    minTvlFiat: fc.constantFrom('0', '-1', '9.99', '10', '10.01', '5e2', '1e22', '1e23'),
    maxPersistenceBps: fc.constantFrom('-0.01', '0', '5', '1e4'),
    tier: someOf(['green', 'yellow', 'red']),
    lockedPricingOnly: flag,
    depositAllowlistEnabled: flag,
    blacklistedOnly: flag,
    addresses: fc.array(address, { minLength: 1, maxLength: 40 }).map((all) => all.join(',')),
    contract_version: fc.constantFrom(...RELEASES, 'removed'),
    fiat: fc.constant('USD'),
  },
  { requiredKeys: [] },
);
export type Query = typeof anyQuery extends fc.Arbitrary<infer Q> ? Q : never;

/** Chains asked for: one by its path, or some by `chainIds`; null names none. */
export const anyScope = fc.oneof(
  fc.constantFrom(CHAIN_A, CHAIN_B),
  fc.constant(null),
  fc.subarray([CHAIN_A, CHAIN_B, 999], { minLength: 1 }),
);
export type Scope = typeof anyScope extends fc.Arbitrary<infer S> ? S : never;

const isSelected = (scope: Scope, chainId: number) => scope === null || [scope].flat().includes(chainId);

/** Whether a chain that is asked for has the release, or any chain when none of those asked for is served. */
export function isReleaseKnown(query: Query, scope: Scope): boolean {
  const release = query.contract_version;
  const selected = [CHAIN_A, CHAIN_B].filter((chainId) => isSelected(scope, chainId));
  const judges = selected.length > 0 ? selected : [CHAIN_A, CHAIN_B];
  return release === undefined || judges.some((chainId) => ENABLED[chainId]?.includes(release));
}

/** All pools that a query asks for, in order: the contract, told in another way than in SQL. */
export function matching(query: Query, scope: Scope): ListedPool[] {
  const named = query.addresses?.toLowerCase().split(',');
  const delistedOnly = query.blacklistedOnly === 'true';
  const floor = Number(query.minTvlFiat ?? (named || delistedOnly ? 0 : 10));
  return pools
    .filter(({ chainId }) => isSelected(scope, chainId))
    .filter(({ chainId, contractVersion }) => ENABLED[chainId]?.includes(contractVersion))
    .filter(({ tier }) => (tier === 'black') === delistedOnly)
    .filter(({ tier }) => query.tier === undefined || query.tier.split(',').includes(tier))
    .filter(({ tvlFiat }) => floor <= 0 || (tvlFiat !== null && tvlFiat >= floor))
    .filter((pool) => {
      const most = query.maxPersistenceBps;
      return most === undefined || (persistenceOf(pool)?.p95Bps ?? Infinity) <= Number(most);
    })
    .filter(({ lockedPricing }) => query.lockedPricingOnly !== 'true' || lockedPricing)
    .filter(({ depositAllowlist }) => query.depositAllowlistEnabled !== 'true' || depositAllowlist)
    .filter(({ contractVersion }) => (query.contract_version ?? contractVersion) === contractVersion)
    .filter(({ pool }) => named?.includes(pool) ?? true)
    .sort(inOrder((query.sortBy ?? 'tiered').toLowerCase(), query.sortOrder !== 'asc'));
}

const KEYS: Readonly<Record<string, (pool: ListedPool) => readonly (number | null)[]>> = {
  tiered: ({ tier, tvlFiat }) => [TIERS.indexOf(tier), tvlFiat],
  tvl: ({ tvlFiat }) => [tvlFiat],
  created: ({ createdBlockNumber }) => [createdBlockNumber],
  volume: ({ volumeFiat, tvlFiat }) => [volumeFiat, tvlFiat],
  apr: ({ aprBps }) => [aprBps],
  apr7d: ({ aprBps7d }) => [aprBps7d],
  change: (pool) => [trendOf(pool).changeE6],
  depth: (pool) => [trendOf(pool).depthFiat],
  persistence: (pool) => [persistenceOf(pool)?.p95Bps ?? null],
};

/** What is unknown comes last both ways; ties go by address and chain. */
function inOrder(sort: string, isDescending: boolean) {
  const worst = isDescending ? -Infinity : Infinity;
  const keysOf = (pool: ListedPool) => KEYS[sort]?.(pool).map((key) => key ?? worst) ?? [];
  return (a: ListedPool, b: ListedPool): number => {
    const [left, right] = [keysOf(a), keysOf(b)];
    const at = left.findIndex((key, index) => key !== right[index]);
    if (at >= 0) return ((left[at] ?? 0) < (right[at] ?? 0) ? -1 : 1) * (isDescending ? -1 : 1);
    return a.pool === b.pool ? a.chainId - b.chainId : a.pool < b.pool ? -1 : 1;
  };
}
