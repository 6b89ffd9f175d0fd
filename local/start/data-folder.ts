import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ConfigError } from '../../config/config-error.ts';
import { makeFolder } from '../../runtime/make-folder.ts';

/** Where a service keeps all that it needs between two runs. Paths are absolute. */
export type DataFolder = Awaited<ReturnType<typeof openDataFolder>>;

/**
 * Opens the folder, and makes it when it is not there. Other accounts may pass through it:
 * Postgres does not run as root.
 *
 * @returns `secret`, from which passwords of stores and logins derive, and paths: `nextChains` is a chains file that is
 * not in use yet, `settings` has for a shell what the operator's commands need
 * @throws ConfigError one line that names the folder
 */
export async function openDataFolder(name: string) {
  const path = resolve(name);
  try {
    await makeFolder(path, 0o711);
    return {
      path,
      secret: await readOrMake(join(path, 'secret')),
      postgres: join(path, 'postgres'),
      redis: join(path, 'redis'),
      logs: join(path, 'logs'),
      chains: join(path, 'chains.json'),
      nextChains: join(path, 'chains.next.json'),
      settings: join(path, 'settings.sh'),
    };
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    throw new ConfigError(`--data: ${path} cannot be used (${(cause as NodeJS.ErrnoException).code})`, { cause });
  }
}

/**
 * Lets a data folder be used by the account that made it alone: what another one, such as root, writes there would lock
 * that account out.
 *
 * @throws ConfigError one line that names the account
 */
export async function assertOwner({ path }: DataFolder): Promise<void> {
  const { uid } = await stat(join(path, 'secret'));
  if (uid === process.getuid?.()) return;
  throw new ConfigError(`--data: ${path} is of user ${uid}: run this as that user, or name another folder`);
}

/** @throws ConfigError what is there was not written whole */
async function readOrMake(path: string): Promise<string> {
  if (!existsSync(path)) await make(path);
  const secret = await readFile(path, 'utf8');
  if (/^[0-9a-f]{48}$/.test(secret)) return secret;
  throw new ConfigError(`${path} is damaged: restore it; without a Postgres in the folder, remove it`);
}

/** Makes a secret, whole; one that is there stays, whoever made it first. */
async function make(path: string): Promise<void> {
  const secret = randomBytes(24).toString('hex');
  const unfinished = `${path}.${randomUUID()}`;
  await writeFile(unfinished, secret, { mode: 0o600, flush: true });
  await link(unfinished, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(unfinished);
}
