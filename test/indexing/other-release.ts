import { appendFile, cp, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createTempFolder, type TempFolder } from '../../local/services/temp-folder.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';

/** Makes the folder of a release whose handlers are other code to Ponder: it takes this one's cache, but no rows. */
export async function makeOtherRelease(): Promise<TempFolder> {
  const folder = await createTempFolder('other-release');
  for (const name of await readdir(PROJECT_ROOT))
    if (name !== 'dist') await symlink(join(PROJECT_ROOT, name), join(folder.path, name));
  await cp(join(PROJECT_ROOT, 'dist'), join(folder.path, 'dist'), { recursive: true });
  await appendFile(join(folder.path, 'dist/ponder/src/handlers.ts'), '// Of another release.\n');
  return folder;
}
