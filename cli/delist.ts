import { and, eq, sql } from 'drizzle-orm';
import type pg from 'pg';
import type { Address } from 'viem';
import { ConfigError } from '../config/config-error.ts';
import { isMissing } from '../db/failure.ts';
import { queriesOn } from '../db/query-builder.ts';
import { delistedPools } from '../db/schema/operator.ts';
import { pools } from '../db/schema/read-model.ts';
import { addressArgument, chainIdArgument } from './arguments.ts';
import { addCommand, databaseProgram, type JsonOption, onDatabase, runCommand } from './run-command.ts';
import { formatTable } from './table.ts';

const program = databaseProgram(
  'delist',
  'Takes pools off the listing, quotes and routes within seconds; blacklistedOnly=true still shows them.',
  [
    'delist -- add 1 0x52908400098527886e0f7030069857d2e4169ee7 --reason "copies another pool\'s name"',
    'delist -- remove 1 0x52908400098527886e0f7030069857d2e4169ee7',
    '--silent delist -- list --json',
  ],
);

const poolCommand = (name: string, description: string) =>
  addCommand(program, name, description)
    .argument('<chainId>', 'chain of the pool', chainIdArgument)
    .argument('<pool>', 'its address', addressArgument);

poolCommand('add', 'take a pool off; again, to change the reason')
  .option('--reason <text>', 'for the operator; clients do not see it')
  .action(
    onDatabase(async (database, chainId: number, pool: Address, { reason }: JsonOption & { reason?: string }) => {
      await queriesOn(database)
        .insert(delistedPools)
        .values({ chainId, pool, reason: reason ?? null })
        .onConflictDoUpdate({
          target: [delistedPools.chainId, delistedPools.pool],
          set: { reason: sql`coalesce(${reason ?? null}, ${delistedPools.reason})` },
        });
      const isKnown = await isIndexed(database, chainId, pool);
      const note = isKnown ? '' : ', of which no such pool is indexed';
      const value = { chainId, pool, delisted: true, indexed: isKnown };
      return { value, text: `delisted ${pool} on chain ${chainId}${note}\n` };
    }),
  );

poolCommand('remove', 'list a pool again').action(
  onDatabase(async (database, chainId: number, pool: Address, _: JsonOption) => {
    const { rowCount } = await queriesOn(database)
      .delete(delistedPools)
      .where(and(eq(delistedPools.chainId, chainId), eq(delistedPools.pool, pool)));
    if (rowCount === 0) throw new ConfigError(`${pool} on chain ${chainId} is not delisted`);
    return { value: { chainId, pool, delisted: false }, text: `listed ${pool} on chain ${chainId} again\n` };
  }),
);

addCommand(program, 'list', 'list the pools that are off').action(
  onDatabase(async (database, _: JsonOption) => {
    const rows = await queriesOn(database)
      .select()
      .from(delistedPools)
      .orderBy(delistedPools.delistedAt, delistedPools.chainId, delistedPools.pool);
    const headings = { CHAIN: 'chainId', POOL: 'pool', SINCE: 'delistedAt', REASON: 'reason' };
    return { value: rows, text: formatTable(headings, rows) };
  }),
);

/** Whether the index has a pool; it may be mistyped, or found later. False before the first index. */
async function isIndexed(database: pg.Pool, chainId: number, pool: Address): Promise<boolean> {
  try {
    const isIt = and(eq(pools.chainId, chainId), eq(pools.address, pool));
    return (await queriesOn(database).select({ address: pools.address }).from(pools).where(isIt)).length > 0;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

runCommand(program);
