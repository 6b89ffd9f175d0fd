import { and, eq, sql } from 'drizzle-orm';
import { QueryBuilder } from 'drizzle-orm/pg-core';
import { allowlists, poolExtensions, pools, priceVelocities, stopLosses } from '../../db/schema/read-model.ts';
import type { ExtensionPhase } from '../../protocol/pool-events.ts';

type StopLoss = typeof stopLosses.$inferSelect;
type PriceVelocity = typeof priceVelocities.$inferSelect;

/** An extension with whatever a StopLoss, a PriceVelocityGuard or an allowlist at its address says of the pool. */
export type ExtensionRow = Readonly<
  Pick<typeof poolExtensions.$inferSelect, 'address'> &
    Pick<StopLoss, 'drawdownE6' | 'timelockSecs'> &
    Pick<PriceVelocity, 'maxChangePerBlockE18'>
> & {
  readonly decayPerSecondE18: bigint | null;
  readonly phases: readonly ExtensionPhase[];
  readonly allowAll: boolean | null;
};

/** The same in JSON, which has no integers of 256 bits. */
type ExtensionJson = {
  readonly [Field in keyof ExtensionRow]: ExtensionRow[Field] extends bigint | null
    ? string | null
    : ExtensionRow[Field];
};

const isOfExtension = (other: typeof stopLosses | typeof priceVelocities | typeof allowlists) =>
  and(
    eq(other.chainId, poolExtensions.chainId),
    eq(other.address, poolExtensions.address),
    eq(other.pool, poolExtensions.pool),
  );

const isPackedStopLoss = sql`packed.chain_id = ${poolExtensions.chainId}
  AND packed.address = ${poolExtensions.address} AND packed.pool = ${poolExtensions.pool}`;

/** Stop losses of the flat layout tell it in 10^-8. */
const decayPerSecondE18 = sql`coalesce(packed.decay_per_second_e18, ${stopLosses.decayPerSecondE8} * 10::numeric ^ 10)::numeric(78, 0)`;

/** The extensions of a row of `pools`, in the pool's order, as the JSON that {@link toExtensions} takes: a few index steps. */
export const extensionsOfPool = sql<string | null>`${new QueryBuilder()
  .select({
    extensions: sql`json_agg(json_build_object(
      'address', ${poolExtensions.address}, 'phases', ${poolExtensions.phases},
      'drawdownE6', ${stopLosses.drawdownE6}::text, 'decayPerSecondE18', ${decayPerSecondE18}::text,
      'timelockSecs', ${stopLosses.timelockSecs}::text,
      'maxChangePerBlockE18', ${priceVelocities.maxChangePerBlockE18}::text,
      'allowAll', ${allowlists.allowAll}) ORDER BY ${poolExtensions.position})::text`,
  })
  .from(poolExtensions)
  .leftJoin(stopLosses, isOfExtension(stopLosses))
  .leftJoin(sql`read_model.packed_stop_losses() packed`, isPackedStopLoss)
  .leftJoin(priceVelocities, isOfExtension(priceVelocities))
  .leftJoin(allowlists, isOfExtension(allowlists))
  .where(and(eq(poolExtensions.chainId, pools.chainId), eq(poolExtensions.pool, pools.address)))}`;

/** @param json null for a pool without extensions */
export function toExtensions(json: string | null): ExtensionRow[] {
  const extensions: readonly ExtensionJson[] = json === null ? [] : JSON.parse(json);
  return extensions.map((extension) => ({
    ...extension,
    drawdownE6: bigintOrNull(extension.drawdownE6),
    decayPerSecondE18: bigintOrNull(extension.decayPerSecondE18),
    timelockSecs: bigintOrNull(extension.timelockSecs),
    maxChangePerBlockE18: bigintOrNull(extension.maxChangePerBlockE18),
  }));
}

function bigintOrNull(text: string | null): bigint | null {
  return text === null ? null : BigInt(text);
}
