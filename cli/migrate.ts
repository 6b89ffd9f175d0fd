import { Command } from 'commander';
import { readEnvironment } from '../config/environment.ts';
import { migrate } from '../db/migrate.ts';
import { databaseSettingError } from '../db/setting-error.ts';
import { runMain } from '../runtime/run-main.ts';

const HELP = `
Settings: DATABASE_URL.
Exit codes: 0 done; 1 wrong setting, a migration failed, one was edited after it ran, or the database is of another release; 75 try again: the database is unreachable, or a backup or a long query held a table for ten minutes.`;

runMain(async () => {
  new Command('migrate')
    .description(
      'Brings the database of DATABASE_URL to the newest schema: runs every file of migrations/ once, in order.',
    )
    .addHelpText('after', HELP)
    .allowExcessArguments(false)
    .parse();
  const { DATABASE_URL } = readEnvironment(['DATABASE_URL']);
  const warn = (text: string) => process.stderr.write(`warning: ${text}\n`);
  const names = await migrate(DATABASE_URL, undefined, warn).catch((cause: unknown) => {
    throw databaseSettingError(cause, 'DATABASE_URL') ?? cause;
  });
  for (const name of names) process.stdout.write(`ran ${name}\n`);
  if (names.length === 0) process.stdout.write('nothing to run\n');
});
