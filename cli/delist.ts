import { Command } from 'commander';
import { runMain } from '../runtime/run-main.ts';
import { addressArgument, chainIdArgument } from './arguments.ts';
import { formatTable } from './table.ts';
import { withDatabase } from './with-database.ts';

const program = new Command('delist')
  .description('Takes pools off the listing, quotes and routes within seconds; blacklistedOnly=true still shows them.')
  .addHelpText('after', '\nSettings: DATABASE_URL.');

program
  .command('add')
  .argument('<chainId>', '', chainIdArgument)
  .argument('<pool>', '', addressArgument)
  .option('--reason <text>', 'for the operator; clients do not see it')
  .action((chainId: number, pool: string, { reason }: { reason?: string }) =>
    withDatabase(async (database) => {
      await database.query(
        `INSERT INTO operator.delisted_pool (chain_id, pool, reason) VALUES ($1, $2, $3)
         ON CONFLICT (chain_id, pool) DO UPDATE SET reason = coalesce(excluded.reason, delisted_pool.reason)`,
        [chainId, pool, reason ?? null],
      );
      process.stdout.write(`delisted ${pool} on chain ${chainId}\n`);
    }),
  );

program
  .command('remove')
  .description('list a pool again')
  .argument('<chainId>', '', chainIdArgument)
  .argument('<pool>', '', addressArgument)
  .action((chainId: number, pool: string) =>
    withDatabase(async (database) => {
      const { rowCount } = await database.query(
        'DELETE FROM operator.delisted_pool WHERE chain_id = $1 AND pool = $2',
        [chainId, pool],
      );
      if (rowCount === 0) program.error(`${pool} on chain ${chainId} is not delisted`);
      process.stdout.write(`listed ${pool} on chain ${chainId} again\n`);
    }),
  );

program
  .command('list')
  .option('--json', 'print JSON')
  .action(({ json }: { json?: true }) =>
    withDatabase(async (database) => {
      const { rows } = await database.query<{ chain_id: string; pool: string; reason: string; delisted_at: Date }>(
        'SELECT chain_id, pool, reason, delisted_at FROM operator.delisted_pool ORDER BY delisted_at, chain_id, pool',
      );
      const cells = rows.map((row) => [row.chain_id, row.pool, row.delisted_at.toISOString(), row.reason]);
      process.stdout.write(
        json ? `${JSON.stringify(rows)}\n` : formatTable(['CHAIN', 'POOL', 'SINCE', 'REASON'], cells),
      );
    }),
  );

runMain(async () => {
  await program.parseAsync();
});
