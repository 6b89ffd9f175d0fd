import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { ServiceError } from './service-error.ts';

const run = promisify(execFile);

/** Path of a program on PATH. */
export async function onPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, name);
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Whether packages can be installed here: by root on a Debian system. */
export const canInstall = async (): Promise<boolean> =>
  process.getuid?.() === 0 && (await onPath('apt-get')) !== undefined;

/**
 * Installs Debian packages without what they only recommend.
 *
 * @param hint what to do where that fails
 * @throws ServiceError with what apt-get said
 */
export async function installDebianPackages(names: readonly string[], hint: string): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const aptGet = (...args: string[]) => run('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=120', ...args], { env });
  try {
    await aptGet('update');
    await aptGet('install', '--yes', '--no-install-recommends', ...names);
  } catch (cause) {
    const log = (cause as { stderr?: string }).stderr ?? '';
    throw new ServiceError(`apt-get could not install ${names.join(', ')}: ${hint}`, log, { cause });
  }
}
