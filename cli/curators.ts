import { Command } from 'commander';
import { and, eq, getTableColumns, sql } from 'drizzle-orm';
import type { Address } from 'viem';
import { ConfigError } from '../config/config-error.ts';
import { queriesOn } from '../db/query-builder.ts';
import { curators } from '../db/schema/operator.ts';
import { runMain } from '../runtime/run-main.ts';
import { addressArgument, chainIdArgument } from './arguments.ts';
import { EXIT_CODES, printResult } from './output.ts';
import { formatTable } from './table.ts';
import { withDatabase } from './with-database.ts';

const program = new Command('curators')
  .description('Display names and verification of pool admins. A change is listed after the next classification.')
  .addHelpText(
    'after',
    `
Examples:
  npm run curators -- set 1 0x52908400098527886e0f7030069857d2e4169ee7 --name "Alice & Co" --verified
  npm run curators -- set 1 0x52908400098527886e0f7030069857d2e4169ee7 --no-verified
  npm run curators -- remove 1 0x52908400098527886e0f7030069857d2e4169ee7
  npm run --silent curators -- list --json

Settings: DATABASE_URL.
${EXIT_CODES}`,
  );

const { updatedAt: _, ...COLUMNS } = getTableColumns(curators);

type JsonOption = { json?: true };
type SetOptions = JsonOption & { name?: string | false; verified?: boolean };

program
  .command('set')
  .description('name a curator, or change what is known of one')
  .argument('<chainId>', 'an address may be someone else on another chain', chainIdArgument)
  .argument('<address>', 'admin of pools', addressArgument)
  .option('--name <text>', 'display name')
  .option('--no-name', 'remove the display name')
  .option('--verified', 'the operator vouches for this curator')
  .option('--no-verified', 'the operator does not')
  .option('--json', 'print JSON')
  .action((chainId: number, address: Address, { name, verified, json }: SetOptions) =>
    withDatabase(async (database) => {
      const changes = {
        ...(name !== undefined && { username: name === false ? null : name }),
        ...(verified !== undefined && { verified }),
      };
      const [row] = await queriesOn(database)
        .insert(curators)
        .values({ chainId, address, ...changes })
        .onConflictDoUpdate({
          target: [curators.chainId, curators.address],
          set: { ...changes, updatedAt: sql`now()` },
        })
        .returning(COLUMNS);
      printResult(json, row, `set ${address} on chain ${chainId}\n`);
    }),
  );

program
  .command('remove')
  .description('forget a curator')
  .argument('<chainId>', 'chain of the curator', chainIdArgument)
  .argument('<address>', 'as `list` shows it', addressArgument)
  .option('--json', 'print JSON')
  .action((chainId: number, address: Address, { json }: JsonOption) =>
    withDatabase(async (database) => {
      const { rowCount } = await queriesOn(database)
        .delete(curators)
        .where(and(eq(curators.chainId, chainId), eq(curators.address, address)));
      if (rowCount === 0) throw new ConfigError(`no curator ${address} on chain ${chainId}`);
      printResult(json, { chainId, address, removed: true }, `removed ${address} on chain ${chainId}\n`);
    }),
  );

program
  .command('list')
  .description('list all curators that are known')
  .option('--json', 'print JSON')
  .action(({ json }: JsonOption) =>
    withDatabase(async (database) => {
      const { chainId, username, address } = curators;
      const rows = await queriesOn(database).select(COLUMNS).from(curators).orderBy(chainId, username, address);
      const cells = rows.map((row) => [row.chainId, row.address, row.username, row.verified ? 'yes' : 'no']);
      printResult(json, rows, formatTable(['CHAIN', 'ADDRESS', 'NAME', 'VERIFIED'], cells));
    }),
  );

runMain(async () => {
  await program.parseAsync();
});
