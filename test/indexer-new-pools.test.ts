import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { createPublicClient, http, type PublicClient } from 'viem';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { addLiquidity } from '../devnet/actions.ts';
import { buildChainsFile } from '../devnet/chains-config.ts';
import { connectDevChain, type DevChain } from '../devnet/dev-chain.ts';
import { request } from '../devnet/json-rpc.ts';
import type { ScenarioPool } from '../devnet/scenario/plan.ts';
import { buildPool } from '../devnet/scenario/pool-builder.ts';
import { TRADING_POOLS } from '../devnet/scenario/trading-pools.ts';
import { runScenario, type Scenario } from '../devnet/scenario.ts';
import { type Anvil, startAnvil } from '../devnet/services/anvil.ts';
import { createTempFolder, type TempFolder } from '../devnet/services/temp-folder.ts';
import { servedSchema } from '../indexer/publication/live-views.ts';
import { createDatabase, type TestDatabase } from './harness/database.ts';
import { readChainPools } from './indexing/chain-pools.ts';
import { connectExact, readIndexedPools } from './indexing/indexed-pools.ts';
import { type RunningIndexer, startIndexer, waitUntilIndexed } from './indexing/indexer-process.ts';

/** Pools that are created while the indexer follows the chain: it must know them ever after. */

const CHAIN_ID = 31_337;
/** Two windows of finality and some: the pool's creation is final then. */
const FINAL_AFTER_BLOCKS = 70;
const LIMIT_MS = 120_000;

let anvil: Anvil;
let chain: DevChain;
let client: PublicClient;
let scenario: Scenario;
let database: TestDatabase;
let rows: pg.Client;
let folder: TempFolder;
let indexer: RunningIndexer | undefined;

beforeAll(async () => {
  [anvil, database, folder] = await Promise.all([
    startAnvil({ chainId: CHAIN_ID }),
    createDatabase(),
    createTempFolder('new-pools'),
  ]);
  scenario = await runScenario({ rpcUrl: anvil.url, chainId: CHAIN_ID });
  chain = await connectDevChain(anvil.url);
  client = createPublicClient({ transport: http(anvil.url), cacheTime: 0 });
  rows = await connectExact(database.url);
  const served = { chainId: CHAIN_ID, name: 'new pools', kind: 'ethereum', url: anvil.url, scenario } as const;
  await writeFile(join(folder.path, 'chains.json'), JSON.stringify(buildChainsFile([served])));
}, 240_000);

afterEach(async () => {
  await indexer?.stop();
});

afterAll(async () => {
  await rows?.end();
  await Promise.all([anvil?.stop(), database?.drop(), folder?.remove()]);
});

async function start(schema?: string): Promise<void> {
  const chainsFile = join(folder.path, 'chains.json');
  indexer = await startIndexer({ databaseUrl: database.url, chainsFile, ...(schema === undefined ? {} : { schema }) });
}

/** A funded pool. The same number after a reorganisation is the same pool. */
function openPool(number: number): Promise<ScenarioPool> {
  const [plan] = TRADING_POOLS;
  if (plan === undefined) throw new Error('no plan');
  const { finish: _, ...quiet } = plan;
  return buildPool({ chain, deployment: scenario.deployment, tokens: scenario.tokens }, quiet, number);
}

const mine = (blocks: number) => request(anvil.url, 'anvil_mine', [blocks]);
const head = async () => Number(await client.getBlockNumber());

async function expectIndexToEqualChain(): Promise<void> {
  if (indexer === undefined) throw new Error('no indexer');
  await waitUntilIndexed(indexer, new Map([[CHAIN_ID, await head()]]), LIMIT_MS);
  const onChain = await readChainPools(client, scenario.deployment.poolFactory);
  const indexed = await readIndexedPools(rows, CHAIN_ID);
  for (const [address, pool] of onChain) expect(indexed.get(address), address).toEqual(pool);
  expect(indexed.size).toBe(onChain.size);
}

test('a pool met on the way is followed after a restart, and found by an index built from the cache', {
  timeout: 5 * LIMIT_MS,
}, async () => {
  await start();
  const { address } = await openPool(500);
  await mine(FINAL_AFTER_BLOCKS);
  await vi.waitFor(
    async () => {
      const sql = 'SELECT count(*) AS n FROM ponder_sync.logs WHERE address = $1';
      expect((await rows.query(sql, [address])).rows[0]?.n).toBeGreaterThan(0);
    },
    { timeout: LIMIT_MS, interval: 200 },
  );
  await indexer?.stop();
  const bins = [{ bin: 0, shares: 10n ** 18n }];
  await addLiquidity(chain, scenario.deployment, { pool: address, owner: chain.roles.provider, bins });
  await start();
  await expectIndexToEqualChain();
  await indexer?.stop();
  await start('onchain_2');
  await vi.waitFor(async () => expect(await servedSchema(rows)).toBe('onchain_2'), {
    timeout: LIMIT_MS,
    interval: 200,
  });
  await expectIndexToEqualChain();
});

test('a pool that a reorganisation creates earlier is followed from there', { timeout: 3 * LIMIT_MS }, async () => {
  await start('onchain_2');
  const before = await head();
  await mine(8);
  const late = await openPool(600);
  await expectIndexToEqualChain();
  await request(anvil.url, 'anvil_rollback', [(await head()) - before]);
  const early = await openPool(600);
  expect(early.address).toBe(late.address);
  await mine(15);
  await expectIndexToEqualChain();
});
