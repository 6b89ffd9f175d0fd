import { execFile } from 'node:child_process';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';

type Json = Record<string, unknown>;

/** A copy of the project in a folder of its own. */
export interface CopiedRelease {
  readonly folder: string;
  /** Changes its version, which no bundle has. */
  readonly setVersion: (version: string) => Promise<void>;
  /** Its rows are other ones than those of this release. */
  readonly raiseLogicVersion: () => Promise<void>;
}

/** Copies the project, as it is built. */
export async function copyRelease(folder: string): Promise<CopiedRelease> {
  const ignored = /[/](node_modules|[.]git|data)$/;
  // With the times of files, by which a build sees what is newer than it.
  await cp(PROJECT_ROOT, folder, { recursive: true, preserveTimestamps: true, filter: (path) => !ignored.test(path) });
  await symlink(join(PROJECT_ROOT, 'node_modules'), join(folder, 'node_modules'));
  const edit = async (name: string, change: (json: Json) => object) => {
    const path = join(folder, name);
    await writeFile(path, JSON.stringify(change(JSON.parse(await readFile(path, 'utf8')))));
  };
  const build = () =>
    promisify(execFile)(process.execPath, ['--import', 'tsx', 'build.ts', '--if-outdated'], { cwd: folder });
  const raiseLogicVersion = async () => {
    await edit('indexer/logic-version.json', (json) => ({ ...json, version: Number(json.version) + 1 }));
    await build();
  };
  return { folder, setVersion: (version) => edit('package.json', (json) => ({ ...json, version })), raiseLogicVersion };
}
