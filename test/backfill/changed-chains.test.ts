import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { startAnvil } from '../../devnet/anvil.ts';
import { buildChainsFile } from '../../devnet/chains-config.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { runScenario } from '../../devnet/scenario.ts';
import { listIndexSchemas } from '../../indexer/publication/index-schemas.ts';
import { startIndexer } from '../../local/processes/indexer-process.ts';
import { onFreePort } from '../../local/services/on-free-port.ts';
import { startOwnProcess } from '../../local/services/own-process.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { createMigratedDatabase } from '../harness/database.ts';
import { openWorld } from '../harness/open-world.ts';
import { backfill, killLeftCommands } from './backfill-world.ts';

const CHAIN_ID = 31_337;
const LIMITS = { timeout: 60_000, interval: 100 };

const world = openWorld(async (ends) => {
  const folder = ends.adopt(await createTempFolder('changed-chains'), ({ remove }) => remove());
  const { url: databaseUrl } = ends.adopt(await createMigratedDatabase(), ({ drop }) => drop());
  const database = ends.adopt(new pg.Pool({ connectionString: databaseUrl, max: 1 }), (pool) => pool.end());
  const anvil = ends.adopt(await startAnvil({ chainId: CHAIN_ID }), ({ stop }) => stop());
  const scenario = await runScenario({ rpcUrl: anvil.url, chainId: CHAIN_ID, onlyTrading: true });
  const node = ends.adopt(await startRpcProxy(anvil.url), ({ stop }) => stop());
  ends.defer(killLeftCommands);
  const file = buildChainsFile([{ chainId: CHAIN_ID, name: 'one', kind: 'ethereum', url: node.url, scenario }]);
  /** A chains file of the same pools: its first block comes later, before there are any. */
  const chainsFrom = async (later: number): Promise<string> => {
    const path = join(folder.path, `from-${later}.json`);
    const from = ({ fromBlock, ...rest }: (typeof file.chains)[number]['deployments'][number]) => ({
      ...rest,
      fromBlock: fromBlock + later,
    });
    const chains = file.chains.map((chain) => ({ ...chain, deployments: chain.deployments.map(from) }));
    await writeFile(path, JSON.stringify({ ...file, chains }));
    return path;
  };
  return { databaseUrl, database, node, chainsFrom };
});

const indexes = async () => (await listIndexSchemas(world.database)).map(({ name }) => name);
const expectIndex = (name: string) => vi.waitFor(async () => expect(await indexes()).toContain(name), LIMITS);

/** While it runs no logs come, so that no index is filled. */
async function withoutLogs(begin: () => Promise<void>): Promise<void> {
  const logs = Promise.withResolvers<void>();
  world.node.misbehave({ kind: 'held', until: logs.promise }, ({ method }) => method === 'eth_getLogs');
  await begin();
  logs.resolve();
  world.node.misbehave(null);
}

/** Begins an index, and is stopped before that is filled. */
const beginBackfill = (chainsFile: string, schema: string): Promise<void> =>
  withoutLogs(async () => {
    const run = backfill({ ...world, chainsFile }, ['--json']);
    await expectIndex(schema);
    run.child.kill('SIGTERM');
    expect(await run.ended).toBe(143);
  });

async function expectFilledAgain(
  chainsFile: string,
  { schema, replaces }: Record<'schema' | 'replaces', string | null>,
) {
  const run = backfill({ ...world, chainsFile }, ['--json']);
  expect(await run.ended, run.stderr()).toBe(0);
  expect(run.lines('begin')).toMatchObject([
    { schema, replaces, resumed: true },
    { schema, replaces, resumed: false },
  ]);
  expect(run.lines('end')).toMatchObject([{ schema, replaces }]);
}

/** Begins an index as `npm start` does: its indexer rejects one of other chains. It stops before that is filled. */
const beginByIndexer = (chainsFile: string, schema: string): Promise<void> =>
  withoutLogs(async () => {
    const env = { CHAINS_CONFIG: chainsFile, DATABASE_URL: world.databaseUrl };
    const { signal } = new AbortController();
    const begun = await startIndexer({ main: 'indexer', env, logOf: () => undefined, signal }, env);
    expect(begun.note).toMatch(/^its logic or the chains changed: backfill fills a new index/);
    await expectIndex(schema);
    await begun.stop();
  });

test('a chains file that changes twice while the first index is filled gets one all the same', async () => {
  const chainsFile = await world.chainsFrom(0);
  await withoutLogs(async () => {
    const first = await onFreePort((port) =>
      startOwnProcess({
        main: 'indexer',
        env: { CHAINS_CONFIG: chainsFile, DATABASE_URL: world.databaseUrl, HOST: '127.0.0.1', PORT: String(port) },
        ready: async () => (await indexes()).includes('onchain_1'),
        startTimeoutMs: LIMITS.timeout,
      }),
    );
    await first.stop();
  });
  await beginByIndexer(await world.chainsFrom(1), 'onchain_2');
  await expectFilledAgain(await world.chainsFrom(2), { schema: 'onchain_2', replaces: null });
  expect(await indexes()).toEqual(['onchain_1', 'onchain_2']);
});

test('a chains file that changes twice while an index serves gets one all the same', async () => {
  await beginBackfill(await world.chainsFrom(1), 'onchain_3');
  await expectFilledAgain(await world.chainsFrom(0), { schema: 'onchain_3', replaces: 'onchain_2' });
  expect(await indexes()).toEqual(['onchain_1', 'onchain_2', 'onchain_3']);
});

test('a way back to an index of other chains says what ends it, and that does', async () => {
  const chainsFile = await world.chainsFrom(0);
  const remedy = /wrote "onchain_2": turn back with that code, or "npm run backfill -- --fresh" removes it/;
  for (const parameters of [['--schema', 'onchain_2'], []]) {
    const run = backfill({ ...world, chainsFile }, parameters);
    expect(await run.ended).toBe(1);
    expect(run.stderr()).toMatch(remedy);
  }
  const fresh = backfill({ ...world, chainsFile }, ['--fresh', '--json']);
  expect(await fresh.ended, fresh.stderr()).toBe(0);
  expect(fresh.lines('end')).toMatchObject([{ schema: 'onchain_2', replaces: 'onchain_3' }]);
});
