import { Command } from 'commander';
import { and, eq, sql } from 'drizzle-orm';
import type { Address } from 'viem';
import { ConfigError } from '../config/config-error.ts';
import { queriesOn } from '../db/query-builder.ts';
import { delistedPools } from '../db/schema/operator.ts';
import { addressArgument, chainIdArgument } from './arguments.ts';
import { EXIT_CODES, onDatabase, runCommand } from './run-command.ts';
import { formatTable } from './table.ts';

const program = new Command('delist')
  .description('Takes pools off the listing, quotes and routes within seconds; blacklistedOnly=true still shows them.')
  .addHelpText(
    'after',
    `
Examples:
  npm run delist -- add 1 0x52908400098527886e0f7030069857d2e4169ee7 --reason "copies another pool's name"
  npm run delist -- remove 1 0x52908400098527886e0f7030069857d2e4169ee7
  npm run --silent delist -- list --json

Settings: DATABASE_URL.
${EXIT_CODES}`,
  );

const command = (name: string) => program.command(name).option('--json', 'print JSON');

type JsonOption = { json?: true };

command('add')
  .description('take a pool off; again, to change the reason')
  .argument('<chainId>', 'chain of the pool', chainIdArgument)
  .argument('<pool>', 'its address', addressArgument)
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
      return { value: { chainId, pool, delisted: true }, text: `delisted ${pool} on chain ${chainId}\n` };
    }),
  );

command('remove')
  .description('list a pool again')
  .argument('<chainId>', 'chain of the pool', chainIdArgument)
  .argument('<pool>', 'its address', addressArgument)
  .action(
    onDatabase(async (database, chainId: number, pool: Address, _: JsonOption) => {
      const { rowCount } = await queriesOn(database)
        .delete(delistedPools)
        .where(and(eq(delistedPools.chainId, chainId), eq(delistedPools.pool, pool)));
      if (rowCount === 0) throw new ConfigError(`${pool} on chain ${chainId} is not delisted`);
      return { value: { chainId, pool, delisted: false }, text: `listed ${pool} on chain ${chainId} again\n` };
    }),
  );

command('list')
  .description('list the pools that are off')
  .action(
    onDatabase(async (database, _: JsonOption) => {
      const rows = await queriesOn(database)
        .select()
        .from(delistedPools)
        .orderBy(delistedPools.delistedAt, delistedPools.chainId, delistedPools.pool);
      const headings = { CHAIN: 'chainId', POOL: 'pool', SINCE: 'delistedAt', REASON: 'reason' };
      return { value: rows, text: formatTable(headings, rows) };
    }),
  );

runCommand(program);
