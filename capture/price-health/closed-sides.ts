import { and, eq, isNotNull } from 'drizzle-orm';
import type { Address } from 'viem';
import { queriesOn } from '../../db/query-builder.ts';
import { priceHealth } from '../../db/schema/operator.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { ClosedSides } from '../../quoting/calls/pool-price.ts';
import type { CaptureClass } from '../read-schedule/pool-values.ts';

/** Finds sides that do not trade. */
export interface SideProbe {
  /** Probes the due pools of a class. @returns number of pools probed */
  readonly run: (kind: CaptureClass) => Promise<number>;
  /**
   * What the last probe of each pool found closed: the probe alone changes it. A pool with both sides open is left out.
   */
  readonly closed: ReadonlyMap<Address, ClosedSides>;
}

/** Notes what a probe found. */
export function noteSides(closed: Map<Address, ClosedSides>, pool: Address, sides: ClosedSides): void {
  if (sides.bids || sides.asks) closed.set(pool, sides);
  else closed.delete(pool);
}

/** Forgets all other pools. */
export function keepPools(closed: Map<Address, ClosedSides>, pools: readonly { readonly address: Address }[]): void {
  const kept = new Set(pools.map(({ address }) => address));
  for (const pool of closed.keys()) if (!kept.has(pool)) closed.delete(pool);
}

/**
 * Notes the pools of a chain that were stored as closed on both sides. Which probe found that is not stored: all get
 * the note, which stays until they have probed the pool.
 */
export async function noteStored(
  database: Queryable,
  chainId: number,
  probes: readonly Map<Address, ClosedSides>[],
): Promise<void> {
  const { pool, status, sellPriceX64 } = priceHealth;
  // With a price, it was not the quote that the pool refused.
  const isClosed = and(eq(priceHealth.chainId, chainId), eq(status, 'pool_refused'), isNotNull(sellPriceX64));
  const rows = await queriesOn(database).select({ pool }).from(priceHealth).where(isClosed);
  for (const closed of probes) for (const row of rows) closed.set(row.pool, { bids: true, asks: true });
}
