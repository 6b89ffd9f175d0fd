import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from '../../runtime/make-folder.ts';
import { ServiceError } from './service-error.ts';
import { guard, release } from './watchdog.ts';

export interface TempFolder {
  readonly path: string;
  readonly remove: () => Promise<void>;
}

/** A folder that outlives this process, in the place of a temporary one: made when it is not there, never removed. */
export async function keptFolder(path: string): Promise<TempFolder> {
  await makeFolder(path, 0o700).catch((cause: NodeJS.ErrnoException) => {
    throw new ServiceError(`${path} cannot be made (${cause.code}): name a folder that can be written`, '', { cause });
  });
  return { path, remove: async () => undefined };
}

/**
 * A new folder, readable by this user only, which goes with {@link TempFolder.remove} or with this process.
 *
 * @throws ServiceError when the parent is not there or cannot be written
 */
export async function createTempFolder(name: string, parent: string = tmpdir()): Promise<TempFolder> {
  const path = join(parent, `pool-api-${name}-${randomUUID()}`);
  // First: a kill between the two would leave it.
  guard(`folder ${path}`);
  await mkdir(path, { mode: 0o700 }).catch((cause: NodeJS.ErrnoException) => {
    release(`folder ${path}`);
    throw new ServiceError(
      `no folder can be made in ${parent} (${cause.code}): set TMPDIR to one that can be written`,
      '',
      {
        cause,
      },
    );
  });
  return {
    path,
    remove: async () => {
      await rm(path, { recursive: true, force: true, maxRetries: 3 });
      release(`folder ${path}`);
    },
  };
}
