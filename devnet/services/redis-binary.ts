import { execFile } from 'node:child_process';
import { constants, existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { ServiceError } from './service-error.ts';

const run = promisify(execFile);

const HINT = 'install redis-server or valkey-server, or set REDIS_URL for the processes you start yourself';

/**
 * The Redis server of this machine: `redis-server` or `valkey-server` on PATH; root on a Debian system gets Debian's
 * package installed.
 *
 * @throws ServiceError one line with a hint when Redis cannot be found or installed
 */
export async function redisBinary(): Promise<string> {
  const found = (await onPath('redis-server')) ?? (await onPath('valkey-server'));
  if (found) return found;
  if (process.getuid?.() !== 0 || !(await onPath('apt-get'))) throw new ServiceError(`no Redis on PATH: ${HINT}`);
  await installDebianPackage();
  const installed = await onPath('redis-server');
  if (installed) return installed;
  throw new ServiceError(`apt-get installed no redis-server: ${HINT}`);
}

async function onPath(name: string): Promise<string | undefined> {
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

async function installDebianPackage(): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const aptGet = (...args: string[]) => run('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=120', ...args], { env });
  try {
    await aptGet('update');
    await aptGet('install', '--yes', '--no-install-recommends', 'redis-server');
  } catch (cause) {
    const log = (cause as { stderr?: string }).stderr ?? '';
    throw new ServiceError(`apt-get could not install redis-server: ${HINT}`, log, { cause });
  }
  await stopInstalledService();
}

/** The package starts a service of its own on port 6379, which is not wanted. */
async function stopInstalledService(): Promise<void> {
  const [command, ...args] = existsSync('/run/systemd/system')
    ? ['systemctl', 'disable', '--now', 'redis-server']
    : ['service', 'redis-server', 'stop'];
  await run(command, args).catch(() => {
    process.stderr.write(
      `redis-server was installed, and may run on port 6379: "${[command, ...args].join(' ')}" failed\n`,
    );
  });
}
