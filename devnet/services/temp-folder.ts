import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { guard, release } from './watchdog.ts';

export interface TempFolder {
  readonly path: string;
  readonly remove: () => Promise<void>;
}

/** A new folder, readable by this user only, which goes with {@link TempFolder.remove} or with this process. */
export async function createTempFolder(name: string, parent: string = tmpdir()): Promise<TempFolder> {
  const path = await mkdtemp(join(parent, `pool-api-${name}-`));
  guard(`folder ${path}`);
  return {
    path,
    remove: async () => {
      await rm(path, { recursive: true, force: true, maxRetries: 3 });
      release(`folder ${path}`);
    },
  };
}
