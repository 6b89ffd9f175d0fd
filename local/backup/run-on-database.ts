import { Command } from 'commander';
import { EXIT_RETRY } from '../../config/app-error.ts';
import { databaseSettingError } from '../../db/setting-error.ts';
import { runSupervised } from '../processes/run-supervised.ts';
import type { Supervisor } from '../processes/supervisor.ts';
import { runningPostgres, startPostgres } from '../services/postgres.ts';
import { assertOwner, openDataFolder } from '../start/data-folder.ts';

const COMMON_HELP = `
Settings: DATABASE_URL, with the login of migrate; without it, the database of the folder.
Exit codes: 0 done; 1 a wrong setting or file, or a fault; ${EXIT_RETRY} try again: it was stopped, or the database is unreachable.`;

/** `settings.sh` has the operator's, which may not read all tables. */
const OWNER = 'the login of migrate, or unset it for the database of --data';

interface DatabaseCommand {
  readonly name: string;
  readonly description: string;
  /** What it says of its file. */
  readonly file: string;
  readonly help: string;
  /** May check what it needs before it opens the database. Returns what it did, in one line. */
  readonly work: (file: string, open: () => Promise<string>, data: string) => Promise<string>;
}

/**
 * Runs a command with a file on the database of `DATABASE_URL`, else on that of a data folder, whose Postgres is
 * started for the time when it does not run. Then this process ends.
 */
export async function runOnDatabase({ name, description, file, help, work }: DatabaseCommand): Promise<never> {
  const command = new Command(name)
    .description(description)
    .argument('<file>', file)
    .option('--data <folder>', 'data folder of npm start', './data')
    .addHelpText('after', help + COMMON_HELP)
    .allowExcessArguments(false)
    .parse();
  const [path = ''] = command.args;
  const { data } = command.opts<{ readonly data: string }>();
  const done = Promise.withResolvers<string>();
  return runSupervised({
    name,
    start: async (supervisor, progress) => {
      const open = async () => process.env.DATABASE_URL || openFolder(supervisor, data);
      try {
        progress.print(await work(path, open, data));
        done.resolve('done');
      } catch (cause) {
        throw databaseSettingError(cause, 'DATABASE_URL', OWNER) ?? cause;
      }
    },
    until: done.promise,
    isTask: true,
  });
}

async function openFolder(supervisor: Supervisor, data: string): Promise<string> {
  const folder = await openDataFolder(data);
  const { postgres, secret } = folder;
  const kept = { folder: postgres, password: secret };
  const running = await runningPostgres(kept);
  if (running !== null) return running;
  await assertOwner(folder);
  const start = async () => ({ ...(await startPostgres({ durable: true, kept })), note: postgres });
  return (await supervisor.start('postgres', start)).url;
}
