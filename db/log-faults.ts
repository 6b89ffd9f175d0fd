import { sql } from 'drizzle-orm';
import { queriesOn } from './query-builder.ts';
import { logFaults } from './schema/operator.ts';
import type { Queryable } from './transaction.ts';

/** Logs that a node left out or invented, by what another one showed. */
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
