import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { redisBinary } from './redis-binary.ts';

/** The only folder on the PATH, so that the machine's own Redis and package manager are out of sight. */
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'redis-binary-'));
  vi.stubEnv('PATH', folder);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

async function command(name: string, script = ''): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

const asRoot = (isRoot: boolean) => vi.spyOn(process, 'getuid').mockReturnValue(isRoot ? 0 : 1_000);

test('redis-server comes before valkey-server, and either will do', async () => {
  const valkey = await command('valkey-server');
  expect(await redisBinary()).toBe(valkey);
  const redis = await command('redis-server');
  expect(await redisBinary()).toBe(redis);
});

test('root on Debian gets the package, without the service that it starts', async () => {
  asRoot(true);
  const log = join(folder, 'log');
  const record = (name: string) => `echo "${name} $*" >> ${log}`;
  await command(
    'apt-get',
    `${record('apt-get')}\ncase "$*" in *install*) printf '#!/bin/sh' > ${folder}/redis-server; /bin/chmod +x ${folder}/redis-server;; esac`,
  );
  for (const name of ['service', 'systemctl']) await command(name, record(name));
  expect(await redisBinary()).toBe(join(folder, 'redis-server'));
  const [update, install, stop] = (await readFile(log, 'utf8')).split('\n');
  expect(update).toMatch(/^apt-get .*update$/);
  expect(install).toMatch(/^apt-get .*install --yes --no-install-recommends redis-server$/);
  expect(stop).toMatch(/redis-server/);
});

test('a failed installation shows what apt-get said', async () => {
  asRoot(true);
  await command('apt-get', 'echo "E: no network" >&2; exit 100');
  await expect(redisBinary()).rejects.toMatchObject({
    message: expect.stringMatching(/^apt-get could not install redis-server: install redis-server or valkey-server/),
    log: 'E: no network\n',
  });
});

test.each([
  ['an ordinary user', false, true],
  ['root without apt-get', true, false],
])('%s gets one line with a hint', async (_who, isRoot, hasApt) => {
  asRoot(isRoot);
  if (hasApt) await command('apt-get', 'exit 0');
  await expect(redisBinary()).rejects.toThrow(
    /^no Redis on PATH: install redis-server or valkey-server, or set REDIS_URL/,
  );
});
