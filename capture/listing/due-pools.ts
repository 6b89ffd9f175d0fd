import { loadStatement } from '../../db/load-statement.ts';
import type { PoolId } from '../../db/pool-id.ts';
import { servedSchema } from '../../db/served-schema.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { PriceTimes } from './price-age.ts';

/**
 * A pool to compute. `source` is the version of the rows that it is computed from; null when it is not in the index.
 */
export type DuePool = PoolId & { readonly source: string | null };

export type DueQuery = PriceTimes & {
  /** Version of the code and settings that compute pools. */
  readonly version: string;
  /** End of the window, Unix seconds. */
  readonly toTs: number;
  /** Whether the window that was published last ended later. */
  readonly isBack: boolean;
};

type DueRow = Omit<DuePool, 'chainId'> & { readonly chainId: string };

/** `:"schema"` is that of the served index: views do not show `xmin`. */
const duePools = loadStatement<DueRow>('./due-pools.sql', import.meta.url);

/**
 * Selects the pools that may differ from what was last computed of them. Postgres gives a row a new `xmin` with each
 * write. The `xmin` of all rows that a pool is computed from make up its source, which is stored with the result. So
 * this notices every row that changed, appeared or disappeared, whoever wrote it, in whatever order, and whichever
 * process computed the pool.
 *
 * @throws an error of Postgres, also when no index is served
 */
export async function selectDuePools(database: Queryable, query: DueQuery): Promise<DuePool[]> {
  const { version, toTs, isBack, pricedSince, knownSince } = query;
  const rows = await duePools(database, [version, toTs, isBack, pricedSince, knownSince], {
    schema: await servedSchema(database),
  });
  return rows.map(({ chainId, ...pool }) => ({ chainId: Number(chainId), ...pool }));
}
