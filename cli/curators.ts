import { Command } from 'commander';
import { ConfigError } from '../config/config-error.ts';
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

/** A chain id fits a float's 53 bits, which the driver gives as a number. */
const COLUMNS = 'chain_id::float8 AS "chainId", address, username, verified';

type JsonOption = { json?: true };
type SetOptions = JsonOption & { name?: string | false; verified?: boolean };
type Curator = { chainId: number; address: string; username: string | null; verified: boolean };

program
  .command('set')
  .description('name a curator, or change what is known of one')
  .argument('<chainId>', 'an address may be someone else on another chain', chainIdArgument)
  .argument('<address>', 'admin of pools', addressArgument)
  .option('--name <text>', 'display name')
  .option('--no-name', 'take the display name away')
  .option('--verified', 'the operator vouches for this curator')
  .option('--no-verified', 'the operator does not')
  .option('--json', 'print JSON')
  .action((chainId: number, address: string, { name, verified, json }: SetOptions) =>
    withDatabase(async (database) => {
      const { rows } = await database.query<Curator>(
        `INSERT INTO operator.curator (chain_id, address, username, verified) VALUES ($1, $2, $3, coalesce($4, false))
         ON CONFLICT (chain_id, address) DO UPDATE
         SET username = CASE WHEN $5 THEN excluded.username ELSE curator.username END,
             verified = coalesce($4, curator.verified), updated_at = now()
         RETURNING ${COLUMNS}`,
        [chainId, address, typeof name === 'string' ? name : null, verified ?? null, name !== undefined],
      );
      printResult(json, rows[0], `set ${address} on chain ${chainId}\n`);
    }),
  );

program
  .command('remove')
  .description('forget a curator')
  .argument('<chainId>', 'chain of the curator', chainIdArgument)
  .argument('<address>', 'as `list` shows it', addressArgument)
  .option('--json', 'print JSON')
  .action((chainId: number, address: string, { json }: JsonOption) =>
    withDatabase(async (database) => {
      const { rowCount } = await database.query('DELETE FROM operator.curator WHERE chain_id = $1 AND address = $2', [
        chainId,
        address,
      ]);
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
      const { rows } = await database.query<Curator>(
        `SELECT ${COLUMNS} FROM operator.curator ORDER BY chain_id, username, address`,
      );
      const cells = rows.map((row) => [row.chainId, row.address, row.username, row.verified ? 'yes' : 'no']);
      printResult(json, rows, formatTable(['CHAIN', 'ADDRESS', 'NAME', 'VERIFIED'], cells));
    }),
  );

runMain(async () => {
  await program.parseAsync();
});
