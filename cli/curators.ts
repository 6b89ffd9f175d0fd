import { Command } from 'commander';
import { runMain } from '../runtime/run-main.ts';
import { addressArgument, chainIdArgument } from './arguments.ts';
import { formatTable } from './table.ts';
import { withDatabase } from './with-database.ts';

const program = new Command('curators')
  .description('Display names and verification of pool admins. A change is listed after the next classification.')
  .addHelpText('after', '\nSettings: DATABASE_URL.');

type SetOptions = { name?: string | false; verified?: boolean };

program
  .command('set')
  .description('name a curator, or change what is known of one')
  .argument('<chainId>', 'an address may be someone else on another chain', chainIdArgument)
  .argument('<address>', 'admin of pools', addressArgument)
  .option('--name <text>', 'display name')
  .option('--no-name', 'take the display name away')
  .option('--verified', 'the operator vouches for this curator')
  .option('--no-verified', 'the operator does not')
  .action((chainId: number, address: string, { name, verified }: SetOptions) =>
    withDatabase(async (database) => {
      await database.query(
        `INSERT INTO operator.curator (chain_id, address, username, verified) VALUES ($1, $2, $3, coalesce($4, false))
         ON CONFLICT (chain_id, address) DO UPDATE
         SET username = CASE WHEN $5 THEN excluded.username ELSE curator.username END,
             verified = coalesce($4, curator.verified), updated_at = now()`,
        [chainId, address, typeof name === 'string' ? name : null, verified ?? null, name !== undefined],
      );
      process.stdout.write(`set ${address} on chain ${chainId}\n`);
    }),
  );

program
  .command('remove')
  .description('forget a curator')
  .argument('<chainId>', '', chainIdArgument)
  .argument('<address>', '', addressArgument)
  .action((chainId: number, address: string) =>
    withDatabase(async (database) => {
      const { rowCount } = await database.query('DELETE FROM operator.curator WHERE chain_id = $1 AND address = $2', [
        chainId,
        address,
      ]);
      if (rowCount === 0) program.error(`no curator ${address} on chain ${chainId}`);
      process.stdout.write(`removed ${address} on chain ${chainId}\n`);
    }),
  );

program
  .command('list')
  .option('--json', 'print JSON')
  .action(({ json }: { json?: true }) =>
    withDatabase(async (database) => {
      const { rows } = await database.query<{ chain_id: string; address: string; username: string; verified: boolean }>(
        'SELECT chain_id, address, username, verified FROM operator.curator ORDER BY chain_id, username, address',
      );
      const cells = rows.map((row) => [row.chain_id, row.address, row.username, row.verified ? 'yes' : 'no']);
      process.stdout.write(
        json ? `${JSON.stringify(rows)}\n` : formatTable(['CHAIN', 'ADDRESS', 'NAME', 'VERIFIED'], cells),
      );
    }),
  );

runMain(async () => {
  await program.parseAsync();
});
