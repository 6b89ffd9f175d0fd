import { join } from 'node:path';
import { execa } from 'execa';
import type { TempFolder } from '../../local/services/temp-folder.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';

/** A clean clone of a commit. */
export interface Checkout {
  /** Short hash of the commit. */
  readonly commit: string;
  readonly path: string;
}

/** @param revision of a commit, as `HEAD^` */
export async function checkOut(folder: TempFolder, revision: string): Promise<Checkout> {
  const { stdout: commit } = await execa('git', ['rev-parse', '--short', `${revision}^{commit}`], {
    cwd: PROJECT_ROOT,
  });
  const path = join(folder.path, commit);
  await execa('git', ['clone', '--quiet', '--no-checkout', PROJECT_ROOT, path]);
  await execa('git', ['checkout', '--quiet', '--detach', commit], { cwd: path });
  return { commit, path };
}

/** Installs into a checkout that is clean again; returns milliseconds. */
export async function timeInstallation({ path }: Checkout): Promise<number> {
  await execa('git', ['clean', '-ffdxq'], { cwd: path });
  return timeCommand('npm', ['ci'], path);
}

/** @returns milliseconds until the command has ended */
export async function timeCommand(command: string, args: readonly string[], cwd: string): Promise<number> {
  const startedAt = performance.now();
  await execa(command, args, { cwd });
  return performance.now() - startedAt;
}
