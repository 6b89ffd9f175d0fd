import { queriesOn } from '../../db/query-builder.ts';
import { curators } from '../../db/schema/operator.ts';
import type { Queryable } from '../../db/transaction.ts';
import { type PoolKey, poolKey } from './pool-key.ts';

/** By chain and address, all that is known of them, as text. */
export type Curators = ReadonlyMap<PoolKey, string>;

/** Reads all: few, since the operator enters them. */
export async function readCurators(database: Queryable): Promise<Curators> {
  const rows = await queriesOn(database).select().from(curators);
  return new Map(
    rows.map(({ chainId, address, username, verified }) => [
      poolKey(chainId, address),
      JSON.stringify([username, verified]),
    ]),
  );
}
