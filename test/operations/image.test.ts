import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { execa } from 'execa';
import { expect, inject, test } from 'vitest';
import { shippedPackages } from '../../cli/shipped-packages.ts';
import { startAnvil } from '../../devnet/anvil.ts';
import { onFreePort } from '../../local/services/on-free-port.ts';
import { ownMain } from '../../local/services/own-process.ts';
import { startService } from '../../local/services/service-process.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { freePort } from '../../runtime/free-port.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { createMigratedDatabase } from '../harness/database.ts';
import { openWorld, startedWorld } from '../harness/open-world.ts';
import { PROCESSES } from './operated-world.ts';

/**
 * No image can be built without Docker: the folder of its last stage, made by the commands of the Dockerfile,
 * stands for it.
 */
const CHAIN_ID = 31_337;
const LIMIT_MS = 240_000;
/** SPDX names. MPL concerns changed files, of which there are none here. */
const LICENCES = /^(0BSD|Apache-2[.]0|BlueOak-1[.]0[.]0|BSD-[23]-Clause|CC0-1[.]0|ISC|MIT|MPL-2[.]0)$/;
/** A checkout is as the build stage sees it. */
const BUILT_FROM = ['package.json', 'package-lock.json', '.npmrc', 'tsconfig.json', 'build.ts', 'ponder.config.ts'];

const folder = startedWorld(() => createTempFolder('image'));
const database = startedWorld(createMigratedDatabase);
const anvil = startedWorld(() => startAnvil({ chainId: CHAIN_ID }));
const image = openWorld(async () => {
  const build = join(folder.path, 'build');
  const path = join(folder.path, 'app');
  const ignored = await readFile(join(PROJECT_ROOT, '.dockerignore'), 'utf8');
  const visible = [...ignored.matchAll(/^!(\S+)$/gm)].map(([, path = '']) => path);
  expect(visible).toEqual(expect.arrayContaining(BUILT_FROM));
  for (const one of visible)
    await cp(join(PROJECT_ROOT, one), join(build, one), { recursive: true, filter: isVisible });
  await symlink(join(PROJECT_ROOT, 'node_modules'), join(build, 'node_modules'));
  await execa('npm', ['run', 'build', '--', '--production'], { cwd: build });
  await mkdir(path);
  for (const [, from = '', to = ''] of (await readFile(join(PROJECT_ROOT, 'Dockerfile'), 'utf8')).matchAll(
    /^COPY --from=build \/app\/(\S+) (\S+)$/gm,
  )) {
    if (from === 'node_modules') await linkProductionPackages(join(path, to));
    else await cp(join(build, from), join(path, to), { recursive: true });
  }
  return { path };
});

const isVisible = (path: string) => !path.endsWith('.test.ts');

/**
 * What `npm prune --omit=dev` leaves, by the lock file. A link to a folder would lead to packages that are not there.
 */
async function linkProductionPackages(target: string): Promise<void> {
  const lock = JSON.parse(await readFile(join(PROJECT_ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }>>;
  };
  const kept = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && !dev);
  expect(kept.length).toBeGreaterThan(50);
  const copy = (how: string) =>
    execa('cp', [how, '--parents', ...kept.map(([path]) => path), folder.path], {
      cwd: PROJECT_ROOT,
      reject: false, // Optional packages of other machines are not installed here.
    });
  const linked = join(folder.path, 'node_modules');
  await copy('-rl');
  // The temporary folder is on another disk.
  if (!existsSync(join(linked, 'ponder/package.json'))) await copy('-r');
  await execa('mv', [linked, target]);
}

/** Settings of all processes, which are in files as a secret is. As in the image, no shell or command is found. */
async function writeSettings(): Promise<Readonly<Record<string, string>>> {
  const chains = join(folder.path, 'chains.json');
  const deployments = [{ contractVersion: 'v1', layout: 'flat', fromBlock: 0, poolFactory: `0x${'11'.repeat(20)}` }];
  const chain = { chainId: CHAIN_ID, name: 'devnet', rpcUrls: [anvil.url], blockTimeMs: 1_000, deployments };
  await writeFile(chains, JSON.stringify({ chains: [chain] }));
  const secret = join(folder.path, 'database-url');
  await writeFile(secret, database.url, { mode: 0o600 });
  return {
    PATH: '/nonexistent',
    NODE_ENV: 'production',
    CHAINS_CONFIG: chains,
    DATABASE_URL_FILE: secret,
    REDIS_URL: inject('redisUrl'),
    HOST: '127.0.0.1',
  };
}

/** Starts a process of the image. Gives the URLs that it serves, and the first line of its log. */
function startProcess(name: string, env: Readonly<Record<string, string>>) {
  return onFreePort(async (port) => {
    const operationsPort = name === 'api' ? await freePort() : port;
    const operations = `http://127.0.0.1:${operationsPort}`;
    let log = '';
    const output = new PassThrough().on('data', (chunk) => {
      log += chunk;
    });
    const { stop } = await startService({
      name,
      command: process.execPath,
      args: ownMain(name),
      cwd: image.path,
      env: { ...env, PORT: String(port), ...(name === 'api' && { OPERATIONS_PORT: String(operationsPort) }) },
      output,
      startTimeoutMs: 90_000,
      ready: async () => (await fetch(`${operations}/health`).catch(() => undefined))?.ok ?? false,
    });
    // Node may warn before.
    const first = JSON.parse(log.split('\n').find((line) => line.startsWith('{')) ?? '{}');
    return { url: `http://127.0.0.1:${port}`, operations, first, stop };
  });
}

/** The API serves clients, and the operator at another port. */
async function expectBothPorts({ url, operations }: Awaited<ReturnType<typeof startProcess>>): Promise<void> {
  for (const path of ['/', '/docs', '/docs/swagger-ui-bundle.js', '/public/v1/chains']) {
    expect([path, (await fetch(url + path)).status]).toEqual([path, 200]);
  }
  for (const path of ['/health', '/ready', '/metrics']) {
    expect([path, (await fetch(url + path)).status]).toEqual([path, 404]);
    expect((await (await fetch(operations + path)).text()).length, path).toBeGreaterThan(10);
  }
  expect((await fetch(`${operations}/public/v1/chains`)).status).toBe(404);
}

test('every process starts from the folder of the image, which has no sources of ours', {
  timeout: LIMIT_MS,
}, async () => {
  const { stdout } = await execa('find', [image.path, '-name', '*.ts', '-not', '-path', '*/node_modules/*']);
  expect(
    stdout.split('\n').filter((path) => !path.includes('/dist/client-reference/') && !path.includes('/dist/ponder/')),
  ).toEqual([]);
  const { version } = JSON.parse(await readFile(join(PROJECT_ROOT, 'package.json'), 'utf8'));
  const env = await writeSettings();
  const files = await filesOf(image.path);
  const run = (name: string) => execa(process.execPath, ownMain(name), { cwd: image.path, env, extendEnv: false });
  expect((await run('migrate')).stdout).toBe('nothing to run');
  const checked = await run('config-check');
  expect(checked.exitCode).toBe(0);
  // All of them log in as the superuser: that works, and is not what is meant.
  expect(checked.stdout).toMatch(/^warning: DATABASE_URL: /);
  // The indexer first: the others are ready when it serves.
  for (const name of [...PROCESSES].sort((a, b) => Number(b === 'indexer') - Number(a === 'indexer'))) {
    const started = await startProcess(name, env);
    expect(started.first).toMatchObject({
      process: name,
      msg: 'starting',
      release: version,
      node: process.versions.node,
    });
    if (name === 'api') await expectBothPorts(started);
    await started.stop();
  }
  expect(await filesOf(image.path)).toEqual(files);
});

/** With the times of their last changes: the root file system is read-only. */
async function filesOf(folder: string): Promise<readonly string[]> {
  const { stdout } = await execa('find', [folder, '-printf', '%p %T@\n']);
  return stdout.split('\n').sort();
}

test('every package of the image, installed or bundled, has a licence that is allowed', () => {
  const shipped = shippedPackages();
  for (const name of ['ponder', 'zod', 'preact', 'swagger-ui-dist'])
    expect([...shipped.keys()]).toContain(`node_modules/${name}`);
  const refused = [...shipped].filter(([, licence = 'none']) =>
    licence.split(/[()]| OR | AND /).some((name) => name !== '' && !LICENCES.test(name)),
  );
  expect(refused).toEqual([]);
});
