import { Command } from 'commander';
import { ConfigError } from '../config/config-error.ts';
import { type ApiKeyRecord, issueApiKey, listApiKeys, revokeApiKey, rotateApiKey } from '../db/api-keys.ts';
import { runMain } from '../runtime/run-main.ts';
import { graceArgument } from './arguments.ts';
import { EXIT_CODES, printResult } from './output.ts';
import { formatTable } from './table.ts';
import { withDatabase } from './with-database.ts';

type JsonOption = { json?: true };
type RotateOptions = JsonOption & { grace: number };

const program = new Command('keys')
  .description('Trading API keys. A change counts in every API process within 3 seconds.')
  .addHelpText(
    'after',
    `
Examples:
  npm run keys -- issue "Alice & Co"                      prints the key, this once
  npm run keys -- rotate ptd_0123456789ab                 new key; the old one ends now
  npm run keys -- rotate ptd_0123456789ab --grace 24h     new key; the old one ends in a day
  npm run keys -- revoke ptd_0123456789ab
  npm run --silent keys -- list --json

Settings: DATABASE_URL.
${EXIT_CODES}`,
  );

program
  .command('issue')
  .description('make a key and print it: it cannot be shown again')
  .argument('<label>', 'what you call its holder')
  .option('--json', 'print JSON')
  .action((label: string, { json }: JsonOption) =>
    withDatabase(async (database) => {
      const issued = await issueApiKey(database, label);
      printResult(json, issued, `${issued.key}\n`);
    }),
  );

program
  .command('rotate')
  .description('make a new key for the holder of a key in use, which ends; print the new one')
  .argument('<keyId>', 'visible part of the old key, as `list` shows it')
  .option('--grace <time>', 'how long the old key stays valid: 90s, 30m, 24h, 7d', graceArgument, 0)
  .option('--json', 'print JSON')
  .action((keyId: string, { grace, json }: RotateOptions) =>
    withDatabase(async (database) => {
      const issued = await rotateApiKey(database, keyId, grace);
      if (issued === null) throw new ConfigError(`no key in use has the id ${keyId}, or it has been rotated already`);
      printResult(json, { ...issued, replaces: keyId, graceSecs: grace }, `${issued.key}\n`);
    }),
  );

program
  .command('revoke')
  .description('make a key invalid for good')
  .argument('<keyId>', 'visible part of the key, as `list` shows it')
  .option('--json', 'print JSON')
  .action((keyId: string, { json }: JsonOption) =>
    withDatabase(async (database) => {
      if (!(await revokeApiKey(database, keyId))) throw new ConfigError(`no key in use has the id ${keyId}`);
      printResult(json, { keyId, revoked: true }, `revoked ${keyId}\n`);
    }),
  );

program
  .command('list')
  .description('list all keys ever issued, by their visible part')
  .option('--json', 'print JSON')
  .action(({ json }: JsonOption) =>
    withDatabase(async (database) => {
      const keys = await listApiKeys(database);
      printResult(json, keys, formatTable(['KEY', 'LABEL', 'ISSUED', 'ENDS', 'REPLACES'], keys.map(cellsOf)));
    }),
  );

function cellsOf({ keyId, label, createdAt, revokedAt, replaces }: ApiKeyRecord): readonly unknown[] {
  return [keyId, label, createdAt.toISOString(), revokedAt?.toISOString() ?? null, replaces];
}

runMain(async () => {
  await program.parseAsync();
});
