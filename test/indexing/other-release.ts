import { createTempFolder, type TempFolder } from '../../local/services/temp-folder.ts';
import { copyRelease } from '../harness/copied-release.ts';

/** Builds a release whose rows are of another version: it takes this one's cache, but no rows. */
export async function buildOtherRelease(): Promise<TempFolder> {
  const temp = await createTempFolder('other-release');
  const { raiseLogicVersion } = await copyRelease(temp.path);
  await raiseLogicVersion();
  return temp;
}
