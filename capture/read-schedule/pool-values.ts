import type { Address } from 'viem';
import type { ReadClass } from '../../chain/read-schedule/call-budget.ts';
import type { ScheduledRead } from '../../chain/read-schedule/read-scheduler.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { ReadBudgetConfig } from '../../config/read-budget-schema.ts';
import { readUnreadableFactories } from '../../db/factory-calibration.ts';
import { loadStatement } from '../../db/load-statement.ts';
import type { Queryable } from '../../db/transaction.ts';

interface PoolRow {
  readonly chainId: number;
  readonly address: Address;
  readonly token0: Address;
  readonly token1: Address;
  readonly factory: Address;
  readonly priceProvider: Address;
  /** Whole numbers, as text. */
  readonly multiplier0: string;
  readonly multiplier1: string;
  readonly valueUsd: number;
}

const poolsOfChain = loadStatement<PoolRow>('./pool-values.sql', import.meta.url);

/** Most funded pools for each call that the budget has per minute. */
const FUNDED_PER_CALL = 8;

/** Reads a chain's pools of enabled deployments whose storage can be read, with their layout, value and class. */
export async function readPoolValues(
  database: Queryable,
  { chainId, deployments, readBudget }: Pick<ChainConfig, 'chainId' | 'deployments' | 'readBudget'>,
) {
  const layouts = new Map(
    deployments.filter(({ enabled }) => enabled).map(({ poolFactory, layout }) => [poolFactory as string, layout]),
  );
  const unreadable = await readUnreadableFactories(database);
  for (const row of unreadable) if (row.chainId === chainId) layouts.delete(row.factory);
  const rows = await poolsOfChain(database, [chainId]);
  const known = rows.flatMap(({ multiplier0, multiplier1, ...pool }) => {
    const layout = layouts.get(pool.factory);
    const scale = { multiplier0: BigInt(multiplier0), multiplier1: BigInt(multiplier1) };
    return layout === undefined ? [] : [{ ...pool, scale, layout }];
  });
  return markFunded(known, readBudget);
}

/**
 * Marks the pools that are funded: those of the highest value, at least `minFundedUsd`, as many as the budget can read
 * within about 15 s. So small amounts in many pools cannot delay valuable pools. Each read of a pool's prices stores
 * the mark, for the listing and the API.
 */
export function markFunded<P extends { readonly valueUsd: number }>(
  list: readonly P[],
  { callsPerMinute, minFundedUsd }: Pick<ReadBudgetConfig, 'callsPerMinute' | 'minFundedUsd'>,
): (P & { readonly isFunded: boolean })[] {
  const funded = list.filter(({ valueUsd }) => valueUsd >= minFundedUsd).sort((a, b) => b.valueUsd - a.valueUsd);
  const richest = new Set(funded.slice(0, callsPerMinute * FUNDED_PER_CALL));
  return list.map((pool) => ({ ...pool, isFunded: richest.has(pool) }));
}

/** A pool as {@link readPoolValues} gives it. */
export type KnownPool = Awaited<ReturnType<typeof readPoolValues>>[number];

/**
 * Classes of pools in capture. `funded`: those that hold priced tokens, and what concerns all pools of a chain;
 * `remaining`: all others, and every pool that burns gas.
 */
export const CAPTURE_CLASSES = ['funded', 'remaining'] as const satisfies readonly ReadClass[];

export type CaptureClass = (typeof CAPTURE_CLASSES)[number];

/** Gives pools as a schedule takes them. */
export const scheduledPools = <P extends Pick<KnownPool, 'address' | 'isFunded'>>(list: readonly P[]) =>
  list.map((item): ScheduledRead<P> => ({ key: item.address, kind: item.isFunded ? 'funded' : 'remaining', item }));
