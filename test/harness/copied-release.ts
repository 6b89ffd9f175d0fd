import { execFile } from 'node:child_process';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';

type Json = Record<string, unknown>;

/** A copy of the project in a folder of its own. */
export interface CopiedRelease {
  readonly folder: string;
  /** Changes a JSON file and builds. */
  readonly edit: (name: string, change: (json: Json) => object) => Promise<void>;
  /** Its rows are other ones than those of this release. */
  readonly raiseLogicVersion: () => Promise<void>;
}

/** Copies the project. It is not built until something is changed. */
export async function copyRelease(folder: string): Promise<CopiedRelease> {
  const ignored = /[/](node_modules|dist|[.]git|data)$/;
  await cp(PROJECT_ROOT, folder, { recursive: true, filter: (path) => !ignored.test(path) });
  await symlink(join(PROJECT_ROOT, 'node_modules'), join(folder, 'node_modules'));
  const edit = async (name: string, change: (json: Json) => object) => {
    const path = join(folder, name);
    await writeFile(path, JSON.stringify(change(JSON.parse(await readFile(path, 'utf8')))));
    await promisify(execFile)(process.execPath, ['--import', 'tsx', 'build.ts', '--if-outdated'], { cwd: folder });
  };
  const raiseLogicVersion = () =>
    edit('indexer/logic-version.json', (json) => ({ ...json, version: Number(json.version) + 1 }));
  return { folder, edit, raiseLogicVersion };
}
