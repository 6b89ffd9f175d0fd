import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { buildClient } from '../../client/build.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';

const CLIENT = join(PROJECT_ROOT, 'client');

export interface InstalledClient {
  /** A folder with the package installed from its tarball, and nothing else. */
  readonly folder: string;
  readonly tarball: string;
  /** Writes a program into the folder. @returns its path */
  readonly write: (name: string, text: string) => Promise<string>;
}

/** Builds and packs the package, and installs the tarball into an empty folder below `parent`. */
export async function installClient(parent: string): Promise<InstalledClient> {
  const source = join(parent, 'source');
  const folder = join(parent, 'program');
  await mkdir(source);
  await mkdir(folder);
  for (const name of ['package.json', 'README.md']) await copyFile(join(CLIENT, name), join(source, name));
  await buildClient(join(source, 'dist'));
  const { stdout } = await execa('npm', ['pack', '--silent'], { cwd: source });
  const tarball = join(source, stdout.trim());
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await execa('npm', ['install', '--offline', '--no-audit', '--no-fund', '--silent', tarball], { cwd: folder });
  const write = async (name: string, text: string) => {
    const path = join(folder, name);
    await writeFile(path, text);
    return path;
  };
  return { folder, tarball, write };
}

/** Makes packages of this project usable there. */
export async function linkPackages(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await symlink(join(PROJECT_ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
}

/** The blocks of JavaScript in the package's README, with another origin of the service. */
export async function readmePrograms(url: string): Promise<readonly string[]> {
  const text = await readFile(join(CLIENT, 'README.md'), 'utf8');
  return [...text.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code = '']) => code.replace('http://localhost:3000', url));
}
