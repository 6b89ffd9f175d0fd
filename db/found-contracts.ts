import { eq, sql } from 'drizzle-orm';
import type { FoundContract } from './complete-chain.ts';
import { queriesOn } from './query-builder.ts';
import { foundContracts } from './schema/operator.ts';
import type { Queryable } from './transaction.ts';

/** What was found when an index was begun, in order. Default: the index that serves readers. */
export async function readFoundContracts(database: Queryable, schema?: string): Promise<FoundContract[]> {
  const { chainId, factory, role, address, maker } = foundContracts;
  return queriesOn(database)
    .select({ chainId, factory, role, address, maker })
    .from(foundContracts)
    .where(eq(foundContracts.schema, schema ?? sql`read_model.served_schema()`))
    .orderBy(chainId, factory, role, address);
}
