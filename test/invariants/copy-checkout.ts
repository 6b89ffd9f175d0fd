import { existsSync } from 'node:fs';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';

/** Copies what git knows of this checkout, and what it does not ignore, to a folder that does not exist. */
export async function copyCheckout(to: string): Promise<void> {
  const { stdout } = await execa('git', ['ls-files', '-co', '--exclude-standard'], { cwd: PROJECT_ROOT });
  const paths = stdout.split('\n').filter((path) => existsSync(join(PROJECT_ROOT, path)));
  for (const path of paths) await cp(join(PROJECT_ROOT, path), join(to, path));
  await symlink(join(PROJECT_ROOT, 'node_modules'), join(to, 'node_modules'));
}

/** A change of a file: a text that it has once, and what takes its place. */
export interface Change {
  readonly file: string;
  readonly text: string;
  readonly replacement: string;
}

/** Does something while a file of a copy is changed. @throws Error when it does not have the text once */
export async function withChange<T>(
  checkout: string,
  { file, text, replacement }: Change,
  work: () => Promise<T>,
): Promise<T> {
  const path = join(checkout, file);
  const original = await readFile(path, 'utf8');
  if (original.split(text).length !== 2) throw new Error(`${file} does not have this once: ${text}`);
  await writeFile(
    path,
    original.replace(text, () => replacement),
  );
  try {
    return await work();
  } finally {
    await writeFile(path, original);
  }
}
