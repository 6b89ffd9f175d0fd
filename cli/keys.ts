import { ConfigError } from '../config/config-error.ts';
import { issueApiKey, listApiKeys, revokeApiKey, rotateApiKey } from '../db/api-keys.ts';
import { graceArgument } from './arguments.ts';
import { addCommand, databaseProgram, type JsonOption, onDatabase, runCommand } from './run-command.ts';
import { formatTable } from './table.ts';

const COLUMNS = {
  KEY: 'keyId',
  LABEL: 'label',
  PUBLISHES: 'publishesQuotes',
  ISSUED: 'createdAt',
  ENDS: 'revokedAt',
  REPLACES: 'replaces',
};

type IssueOptions = JsonOption & { publishQuotes?: true };
type RotateOptions = JsonOption & { grace: number };

const program = databaseProgram('keys', 'Trading API keys. A change counts in every API process within 3 seconds.', [
  'keys -- issue "Alice & Co"                      prints the key, this once',
  'keys -- issue "Maker & Co" --publish-quotes     its quote updates may become live quotes',
  'keys -- rotate ptd_0123456789ab                 new key; the old one ends now',
  'keys -- rotate ptd_0123456789ab --grace 24h     new key; the old one ends in a day',
  'keys -- revoke ptd_0123456789ab',
  '--silent keys -- list --json',
]);

addCommand(program, 'issue', 'make a key and print it: it cannot be shown again')
  .argument('<label>', 'what you call its holder')
  .option('--publish-quotes', 'its quote updates may become live quotes: only if its holder said so')
  .action(
    onDatabase(async (database, label: string, { publishQuotes }: IssueOptions) => {
      const issued = await issueApiKey(database, label, { publishesQuotes: publishQuotes ?? false });
      return { value: issued, text: `${issued.key}\n` };
    }),
  );

addCommand(program, 'rotate', 'make a new key for the holder of a key in use, which ends; print the new one')
  .argument('<keyId>', 'visible part of the old key, as `list` shows it')
  .option('--grace <time>', 'how long the old key stays valid: 90s, 30m, 24h, 7d', graceArgument, 0)
  .action(
    onDatabase(async (database, keyId: string, { grace }: RotateOptions) => {
      const issued = await rotateApiKey(database, keyId, grace);
      if (issued === null) throw new ConfigError(`no key in use has the id ${keyId}, or it has been rotated already`);
      return { value: { ...issued, replaces: keyId, graceSecs: grace }, text: `${issued.key}\n` };
    }),
  );

addCommand(program, 'revoke', 'revoke a key permanently')
  .argument('<keyId>', 'visible part of the key, as `list` shows it')
  .action(
    onDatabase(async (database, keyId: string, _: JsonOption) => {
      if (!(await revokeApiKey(database, keyId))) throw new ConfigError(`no key in use has the id ${keyId}`);
      return { value: { keyId, revoked: true }, text: `revoked ${keyId}\n` };
    }),
  );

addCommand(program, 'list', 'list all keys ever issued, by their visible part').action(
  onDatabase(async (database, _: JsonOption) => {
    const keys = await listApiKeys(database);
    return { value: keys, text: formatTable(COLUMNS, keys) };
  }),
);

runCommand(program);
