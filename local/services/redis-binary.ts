import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { canInstall, installDebianPackages, onPath } from './debian-package.ts';
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
  if (!(await canInstall())) throw new ServiceError(`no Redis on PATH: ${HINT}`);
  await installDebianPackages(['redis-server'], HINT);
  await stopInstalledService();
  const installed = await onPath('redis-server');
  if (installed) return installed;
  throw new ServiceError(`apt-get installed no redis-server: ${HINT}`);
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
