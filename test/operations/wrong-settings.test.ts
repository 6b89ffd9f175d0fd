import { randomUUID } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, inject, test } from 'vitest';
import { startAnvil } from '../../devnet/anvil.ts';
import { ownMain, startOwnProcess } from '../../local/services/own-process.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { migratedDatabase } from '../harness/migrated-database.ts';
import { startedWorld } from '../harness/open-world.ts';
import { PROCESSES } from './operated-world.ts';

const CHAIN_ID = 31337;
const LIMIT_MS = 240_000;

const database = migratedDatabase();
const anvil = startedWorld(() => startAnvil({ chainId: CHAIN_ID }));
const folder = startedWorld(() => createTempFolder('wrong-settings'));

async function chainsFile(chainId: number, rpcUrl: string): Promise<string> {
  const path = join(folder.path, `${chainId}-${randomUUID()}.json`);
  const poolFactory = `0x${'11'.repeat(20)}`;
  const deployments = [{ contractVersion: 'v1', layout: 'flat', fromBlock: 0, poolFactory }];
  const chain = { chainId, name: 'devnet', rpcUrls: [rpcUrl], blockTimeMs: 1_000, deployments };
  await writeFile(path, JSON.stringify({ chains: [chain] }));
  return path;
}

async function settingsWith(changes: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  return {
    CHAINS_CONFIG: await chainsFile(CHAIN_ID, anvil.url),
    DATABASE_URL: database.url,
    REDIS_URL: inject('redisUrl'),
    HOST: '127.0.0.1',
    PORT: '0',
    ...changes,
  };
}

/** How every process ends that is started with these settings. */
async function endings(changes: Readonly<Record<string, string>>): Promise<Record<string, unknown>> {
  const env = await settingsWith(changes);
  const ended = PROCESSES.map(async (name) => {
    const options = { cwd: PROJECT_ROOT, env, reject: false, timeout: LIMIT_MS } as const;
    const { exitCode, stdout, stderr } = await execa('node', ownMain(name), options);
    return [name, { exitCode, stdout, stderr }];
  });
  return Object.fromEntries(await Promise.all(ended));
}

const everyProcess = (ending: unknown) => Object.fromEntries(PROCESSES.map((name) => [name, ending]));

test('a password that the database refuses ends every process with one line', { timeout: LIMIT_MS }, async () => {
  const url = Object.assign(new URL(database.url), { password: 'a-wrong-secret' });
  const stderr = 'DATABASE_URL: password authentication failed for user "postgres"';
  expect(await endings({ DATABASE_URL: url.href })).toEqual(everyProcess({ exitCode: 1, stdout: '', stderr }));
});

test('a node of another chain ends every process with one line', { timeout: LIMIT_MS }, async () => {
  const path = await chainsFile(1, anvil.url);
  const stderr =
    `CHAINS_CONFIG: chain 1: the node at 127.0.0.1:${anvil.port} answers with chain id ${CHAIN_ID}: ` +
    'give the URL of a node of chain 1';
  expect(await endings({ CHAINS_CONFIG: path })).toEqual(everyProcess({ exitCode: 1, stdout: '', stderr }));
});

test('the indexer logs the host of a node that fails, not the key in its URL, and leaves no folder', {
  timeout: LIMIT_MS,
}, async () => {
  const temp = join(folder.path, 'temp');
  await mkdir(temp);
  const path = await chainsFile(CHAIN_ID, 'http://127.0.0.1:1/v3/key-of-a-node?token=another-key');
  const indexer = await startOwnProcess({
    main: 'indexer',
    env: await settingsWith({ CHAINS_CONFIG: path, TMPDIR: temp }),
    ready: /"msg":"Received JSON-RPC error".*127\.0\.0\.1:1 gave no answer/,
    startTimeoutMs: LIMIT_MS,
  });
  const log = indexer.recentOutput();
  expect(await readdir(temp, { recursive: true })).toContainEqual(expect.stringMatching(/ponder-\w+\/ponder\.config/));
  await indexer.kill();
  expect(await readdir(temp)).toEqual([]);
  expect(log).not.toMatch(/key-of-a-node|another-key/);
});
