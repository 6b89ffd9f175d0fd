import { Command } from 'commander';
import { and, eq, getTableColumns, sql } from 'drizzle-orm';
import type { Address } from 'viem';
import { ConfigError } from '../config/config-error.ts';
import { queriesOn } from '../db/query-builder.ts';
import { curators } from '../db/schema/operator.ts';
import { addressArgument, chainIdArgument } from './arguments.ts';
import { EXIT_CODES, onDatabase, runCommand } from './run-command.ts';
import { formatTable } from './table.ts';

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

const command = (name: string) => program.command(name).option('--json', 'print JSON');

type JsonOption = { json?: true };
type SetOptions = JsonOption & { name?: string | false; verified?: boolean };

command('set')
  .description('name a curator, or change what is known of one')
  .argument('<chainId>', 'an address may be someone else on another chain', chainIdArgument)
  .argument('<address>', 'admin of pools', addressArgument)
  .option('--name <text>', 'display name')
  .option('--no-name', 'remove the display name')
  .option('--verified', 'the operator vouches for this curator')
  .option('--no-verified', 'the operator does not')
  .action(
    onDatabase(async (database, chainId: number, address: Address, { name, verified }: SetOptions) => {
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
      return { value: row, text: `set ${address} on chain ${chainId}\n` };
    }),
  );

command('remove')
  .description('forget a curator')
  .argument('<chainId>', 'chain of the curator', chainIdArgument)
  .argument('<address>', 'as `list` shows it', addressArgument)
  .action(
    onDatabase(async (database, chainId: number, address: Address, _: JsonOption) => {
      const { rowCount } = await queriesOn(database)
        .delete(curators)
        .where(and(eq(curators.chainId, chainId), eq(curators.address, address)));
      if (rowCount === 0) throw new ConfigError(`no curator ${address} on chain ${chainId}`);
      return { value: { chainId, address, removed: true }, text: `removed ${address} on chain ${chainId}\n` };
    }),
  );

command('list')
  .description('list all curators that are known')
  .action(
    onDatabase(async (database, _: JsonOption) => {
      const { chainId, username, address } = curators;
      const rows = await queriesOn(database).select(COLUMNS).from(curators).orderBy(chainId, username, address);
      const headings = { CHAIN: 'chainId', ADDRESS: 'address', NAME: 'username', VERIFIED: 'verified' };
      return { value: rows, text: formatTable(headings, rows) };
    }),
  );

runCommand(program);
