import { Command } from 'commander';
import { issueApiKey, listApiKeys, revokeApiKey } from '../db/api-keys.ts';
import { runMain } from '../runtime/run-main.ts';
import { formatTable } from './table.ts';
import { withDatabase } from './with-database.ts';

const program = new Command('keys')
  .description('Trading API keys. A change counts in every API process within 3 seconds.')
  .addHelpText('after', '\nSettings: DATABASE_URL.');

program
  .command('issue')
  .description('make a key and print it: it cannot be shown again')
  .argument('<label>', 'what you call its holder')
  .option('--json', 'print JSON')
  .action((label: string, { json }: { json?: true }) =>
    withDatabase(async (database) => {
      const issued = await issueApiKey(database, label);
      process.stdout.write(json ? `${JSON.stringify(issued)}\n` : `${issued.key}\n`);
    }),
  );

program
  .command('revoke')
  .description('make a key invalid for good')
  .argument('<keyId>', 'visible part of the key, as `list` shows it')
  .action((keyId: string) =>
    withDatabase(async (database) => {
      const revoked = await revokeApiKey(database, keyId);
      process.stdout.write(revoked ? `revoked ${keyId}\n` : '');
      if (!revoked) program.error(`no key in use has the id ${keyId}`);
    }),
  );

program
  .command('list')
  .description('list all keys ever issued, by their visible part')
  .option('--json', 'print JSON')
  .action(({ json }: { json?: true }) =>
    withDatabase(async (database) => {
      const keys = await listApiKeys(database);
      const rows = keys.map((key) => [
        key.keyId,
        key.label,
        key.createdAt.toISOString(),
        key.revokedAt?.toISOString() ?? null,
      ]);
      process.stdout.write(
        json ? `${JSON.stringify(keys)}\n` : formatTable(['KEY', 'LABEL', 'ISSUED', 'REVOKED'], rows),
      );
    }),
  );

runMain(async () => {
  await program.parseAsync();
});
