import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceError } from './service-error.ts';
import { guard, release } from './watchdog.ts';

export interface TempFolder {
  readonly path: string;
  readonly remove: () => Promise<void>;
}

/**
 * A new folder, readable by this user only, which goes with {@link TempFolder.remove} or with this process.
 *
 * @throws ServiceError when the parent is not there or cannot be written
 */
export async function createTempFolder(name: string, parent: string = tmpdir()): Promise<TempFolder> {
  const path = await mkdtemp(join(parent, `pool-api-${name}-`)).catch((cause: NodeJS.ErrnoException) => {
    throw new ServiceError(
      `no folder can be made in ${parent} (${cause.code}): set TMPDIR to one that can be written`,
      '',
      {
        cause,
      },
    );
  });
  guard(`folder ${path}`);
  return {
    path,
    remove: async () => {
      await rm(path, { recursive: true, force: true, maxRetries: 3 });
      release(`folder ${path}`);
    },
  };
}
