import { createWriteStream, existsSync, rmSync } from 'node:fs';
import { rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { ConfigError } from '../../config/config-error.ts';
import { isDatabaseUnreachable } from '../../db/failure.ts';
import { runOnDatabase } from './run-on-database.ts';
import { writeBackup } from './write-backup.ts';

const HELP = `
All is as it was when the command began, whether the service runs or not. An indexer that starts meanwhile waits for the end.
`;

await runOnDatabase({
  name: 'backup',
  description: 'Writes the whole database to a file of gzipped SQL, for restore.',
  file: 'such as pools.sql.gz; one that is there is replaced',
  help: HELP,
  work: async (file, open, data) => {
    if (!process.env.DATABASE_URL && !existsSync(join(data, 'postgres'))) {
      throw new ConfigError(`--data: ${data} has no database: name the folder of npm start, or set DATABASE_URL`);
    }
    await writeFile(file, await open());
    return `${file}: ${((await stat(file)).size / 1e6).toFixed(1)} MB`;
  },
});

async function writeFile(file: string, url: string): Promise<void> {
  const unfinished = `${file}.unfinished`;
  process.once('exit', () => rmSync(unfinished, { force: true }));
  try {
    // Keys are in it.
    await pipeline(writeBackup(url), createGzip(), createWriteStream(unfinished, { mode: 0o600, flush: true }));
    await rename(unfinished, file);
  } catch (cause) {
    const { code, syscall } = cause as NodeJS.ErrnoException;
    if (!syscall || isDatabaseUnreachable(cause)) throw cause;
    throw new ConfigError(`${file} cannot be written (${code})`, { cause });
  }
}
