import { and, eq, getTableColumns, sql } from 'drizzle-orm';
import type { Address } from 'viem';
import { ConfigError } from '../config/config-error.ts';
import { queriesOn } from '../db/query-builder.ts';
import { curators } from '../db/schema/operator.ts';
import { addressArgument, chainIdArgument } from './arguments.ts';
import { addCommand, databaseProgram, type JsonOption, onDatabase, runCommand } from './run-command.ts';
import { formatTable } from './table.ts';

const program = databaseProgram(
  'curators',
  'Display names and verification of pool admins. A change is listed after the next classification.',
  [
    'curators -- set 1 0x52908400098527886e0f7030069857d2e4169ee7 --name "Alice & Co" --verified',
    'curators -- set 1 0x52908400098527886e0f7030069857d2e4169ee7 --no-verified',
    'curators -- remove 1 0x52908400098527886e0f7030069857d2e4169ee7',
    '--silent curators -- list --json',
  ],
);

const curatorCommand = (name: string, description: string) =>
  addCommand(program, name, description)
    .argument('<chainId>', 'an address may be someone else on another chain', chainIdArgument)
    .argument('<address>', 'admin of pools', addressArgument);

const { updatedAt: _, ...COLUMNS } = getTableColumns(curators);

type SetOptions = JsonOption & { name?: string | false; verified?: boolean };

curatorCommand('set', 'name a curator, or change what is known of one')
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

curatorCommand('remove', 'forget a curator').action(
  onDatabase(async (database, chainId: number, address: Address, _: JsonOption) => {
    const { rowCount } = await queriesOn(database)
      .delete(curators)
      .where(and(eq(curators.chainId, chainId), eq(curators.address, address)));
    if (rowCount === 0) throw new ConfigError(`no curator ${address} on chain ${chainId}`);
    return { value: { chainId, address, removed: true }, text: `removed ${address} on chain ${chainId}\n` };
  }),
);

addCommand(program, 'list', 'list all curators that are known').action(
  onDatabase(async (database, _: JsonOption) => {
    const { chainId, username, address } = curators;
    const rows = await queriesOn(database).select(COLUMNS).from(curators).orderBy(chainId, username, address);
    const headings = { CHAIN: 'chainId', ADDRESS: 'address', NAME: 'username', VERIFIED: 'verified' };
    return { value: rows, text: formatTable(headings, rows) };
  }),
);

runCommand(program);
