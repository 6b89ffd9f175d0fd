import { and, count, eq, inArray, isNotNull, sql } from 'drizzle-orm';
import type pg from 'pg';
import type { Address } from 'viem';
import type { BlockRef, ChainRpc } from '../../chain/chain-rpc.ts';
import { multicall } from '../../chain/contract-calls.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { queriesOn } from '../../db/query-builder.ts';
import { binComparisons } from '../../db/schema/operator.ts';
import { pools } from '../../db/schema/read-model.ts';
import type { Queryable } from '../../db/transaction.ts';
import { upsertRows } from '../../db/write-rows.ts';
import { storedLayout } from '../../protocol/layouts/stored-layouts.ts';
import type { TokenScale } from '../../protocol/scaling.ts';
import type { Readings, StoredLayout } from '../../protocol/stored-layout.ts';
import { readCalibration } from '../calibration/calibration-rows.ts';
import { poolsToCompare, type SummedPool } from './pools-to-compare.ts';
import { binDifference } from './summed-bins.ts';

/** Told after each round how many pools of a chain have other bins by events than by storage. */
export type OnBinsCompared = (chainId: number, pools: number) => void;

export type ComparisonDeps = {
  readonly database: pg.Pool;
  /** Pools that a round compares. */
  readonly comparedPools: number;
  readonly onBinsCompared?: OnBinsCompared | undefined;
};

/** A factory whose deltas are understood. */
type Comparable = { readonly layout: StoredLayout; readonly readings: Readings };

const NO_SCALE: TokenScale = { multiplier0: 1n, multiplier1: 1n };
/** Full nodes hold the states of 128 blocks. */
const MOST_BLOCKS_BEHIND = 100n;
/** What a storage word takes, and a call beside its words. */
const GAS_PER_BIN = 4_000;
const GAS_PER_POOL = 30_000;

/**
 * Holds the bins of some pools of a chain, summed up from events, against their storage at the block that the index is at.
 * The pools whose comparison is the oldest come first, so that all have their turn at a cost that does not depend on their
 * number; one that differs is looked at again in the next round.
 *
 * @returns number of pools compared
 * @throws errors of the nodes and the database
 */
export async function compareBins(deps: ComparisonDeps, rpc: ChainRpc, chain: ChainConfig): Promise<number> {
  const { database, comparedPools, onBinsCompared } = deps;
  const comparable = await comparableFactories(database, chain);
  const factories = [...comparable.keys()];
  const due = factories.length > 0 ? await poolsToCompare(database, chain.chainId, factories, comparedPools) : [];
  const block = due[0] ? await indexedBlock(rpc, due[0].blockNumber) : null;
  if (block) {
    const rows = await compareAt(rpc, chain, block, due, comparable);
    const options = { key: ['chainId', 'pool'], computed: { comparedAt: sql`now()` }, evenIfSame: true } as const;
    await upsertRows(database, binComparisons, rows, options);
  }
  onBinsCompared?.(chain.chainId, await countUnlike(database, chain.chainId, factories));
  return block ? due.length : 0;
}

async function comparableFactories(
  database: Queryable,
  { chainId, deployments }: ChainConfig,
): Promise<ReadonlyMap<Address, Comparable>> {
  const found = new Map<Address, Comparable>();
  for (const { enabled, layout: name, poolFactory: factory, packed } of deployments) {
    const layout = enabled ? storedLayout(name) : undefined;
    if (layout === undefined) continue;
    const decided = (await readCalibration(database, { chainId, factory })).map((row) => [row.what, row.decided]);
    const readings = { ...Object.fromEntries(decided), ...packed };
    if (layout.deltaUnits(readings, NO_SCALE)) found.set(factory, { layout, readings });
  }
  return found;
}

/** The block that the index is at; null when nodes need not hold its state, or do not know it yet. */
async function indexedBlock(rpc: ChainRpc, blockNumber: number): Promise<BlockRef | null> {
  const { block: head } = await rpc.head();
  const behind = head.number - BigInt(blockNumber);
  if (behind < 0n || behind > MOST_BLOCKS_BEHIND) return null;
  return behind === 0n ? head : rpc.blockAt(BigInt(blockNumber));
}

async function compareAt(
  rpc: ChainRpc,
  { chainId, multicall3 }: ChainConfig,
  block: BlockRef,
  due: readonly SummedPool[],
  comparable: ReadonlyMap<Address, Comparable>,
): Promise<Omit<typeof binComparisons.$inferInsert, 'comparedAt'>[]> {
  const known = due.flatMap((pool) => {
    const { layout, readings } = comparable.get(pool.factory) ?? {};
    const units = readings && layout?.deltaUnits(readings, pool.scale);
    return layout && units ? [{ ...pool, layout, units }] : [];
  });
  const groups = known.map(({ address, layout, bins }) => [
    {
      target: address,
      data: layout.binsData(bins.map(({ bin }) => bin)),
      gas: GAS_PER_POOL + GAS_PER_BIN * bins.length,
    },
  ]);
  const answers = await multicall({ rpc, chainId, multicall3 }, block, groups);
  return known.map(({ address, layout, bins, units, swaps }, index) => {
    const result = answers[index]?.[0];
    const difference = binDifference(bins, result ? layout.decodeBins(result) : null, { units, swaps });
    return { chainId, pool: address, blockNumber: Number(block.number), difference };
  });
}

async function countUnlike(database: Queryable, chainId: number, factories: readonly Address[]): Promise<number> {
  const isOfPool = and(eq(pools.chainId, binComparisons.chainId), eq(pools.address, binComparisons.pool));
  const [row] = await queriesOn(database)
    .select({ unlike: count() })
    .from(binComparisons)
    .innerJoin(pools, isOfPool)
    .where(
      and(
        eq(binComparisons.chainId, chainId),
        isNotNull(binComparisons.difference),
        inArray(pools.factory, [...factories]),
      ),
    );
  return row?.unlike ?? 0;
}
