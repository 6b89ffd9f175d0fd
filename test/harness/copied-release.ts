import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';

/** A copy of the project in a folder of its own. */
export interface CopiedRelease {
  readonly folder: string;
  /** Changes its version, which no bundle has. */
  readonly setVersion: (version: string) => Promise<void>;
  /** Its rows count as other ones than those of this release. */
  readonly raiseLogicVersion: () => Promise<void>;
}

/** `indexer/logic-version.json` in a bundle. */
const LOGIC_VERSION = /(var logic_version_default = \{\s*version: )(\d+)/;

/** Copies the project, as it is built. */
export async function copyRelease(folder: string): Promise<CopiedRelease> {
  const ignored = /[/](node_modules|[.]git|data)$/;
  await cp(PROJECT_ROOT, folder, { recursive: true, filter: (path) => !ignored.test(path) });
  await symlink(join(PROJECT_ROOT, 'node_modules'), join(folder, 'node_modules'));
  const edit = async (name: string, change: (text: string) => string) => {
    const path = join(folder, name);
    const text = await readFile(path, 'utf8');
    const changed = change(text);
    if (changed === text) throw new Error(`${name}: nothing is changed`);
    await writeFile(path, changed);
  };
  return {
    folder,
    setVersion: (version) => edit('package.json', (text) => JSON.stringify({ ...JSON.parse(text), version })),
    // A build would take seconds.
    raiseLogicVersion: () =>
      edit('dist/ponder.config.mjs', (text) =>
        text.replace(LOGIC_VERSION, (_, before, version) => `${before}${Number(version) + 1}`),
      ),
  };
}
