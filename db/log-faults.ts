import { gt, sql } from 'drizzle-orm';
import { queriesOn } from './query-builder.ts';
import { logFaults } from './schema/operator.ts';
import type { Queryable } from './transaction.ts';

/** Logs that a node left out or invented; a log at another place than its own is an invented one. */
export interface FaultyLogs {
  readonly chainId: number;
  /** Its place in the chains file, such as `rpcUrls[0]`. */
  readonly node: string;
  readonly leftOut: number;
  readonly invented: number;
}

/** Adds to what is known of a node. */
export async function addFaultyLogs(database: Queryable, faulty: FaultyLogs): Promise<void> {
  const { leftOut, invented } = logFaults;
  await queriesOn(database)
    .insert(logFaults)
    .values(faulty)
    .onConflictDoUpdate({
      target: [logFaults.chainId, logFaults.node],
      set: {
        leftOut: sql`${leftOut} + excluded.left_out`,
        invented: sql`${invented} + excluded.invented`,
        lastAt: sql`now()`,
      },
    });
}

/** Nodes that left logs out or invented some within the last day: places in the chains file, by chain id. */
export async function readFaultyNodes(database: Queryable): Promise<ReadonlyMap<number, readonly string[]>> {
  const isRecent = gt(logFaults.lastAt, sql`now() - interval '1 day'`);
  const rows = await queriesOn(database)
    .select()
    .from(logFaults)
    .where(isRecent)
    .orderBy(logFaults.chainId, logFaults.node);
  return new Map([...Map.groupBy(rows, ({ chainId }) => chainId)].map(([id, of]) => [id, of.map(({ node }) => node)]));
}
