import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { Address } from 'viem';
import { expect, test, vi } from 'vitest';
import { servedSchema } from '../../db/served-schema.ts';
import { addLiquidity } from '../../devnet/actions.ts';
import { startAnvil } from '../../devnet/anvil.ts';
import { buildChainsFile } from '../../devnet/chains-config.ts';
import { connectDevChain } from '../../devnet/dev-chain.ts';
import { connectNode, request } from '../../devnet/json-rpc.ts';
import { setFeedPrice } from '../../devnet/providers.ts';
import { toX64 } from '../../devnet/scenario/market.ts';
import type { ScenarioPool } from '../../devnet/scenario/plan.ts';
import { buildPool } from '../../devnet/scenario/pool-builder.ts';
import { TRADING_POOLS } from '../../devnet/scenario/trading-pools.ts';
import { runScenario } from '../../devnet/scenario.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { Q64 } from '../../protocol/fixed-point.ts';
import { expectPackedWalked, walkBehind } from '../adapters/packed-sites.ts';
import { createMigratedDatabase } from '../harness/database.ts';
import { openWorld, startedWorld } from '../harness/open-world.ts';
import { expectRejected, serveIndex } from '../metadata/served-index.ts';
import { auditPools, differencesOf } from './audit-pools.ts';
import { readChainPools } from './chain-pools.ts';
import { expectPackedIndexed } from './expect-packed.ts';
import { HostileTokens } from './hostile-tokens.ts';
import { connectExact, readIndexedPools } from './indexed-pools.ts';
import { indexerStarter, type RunningIndexer, waitUntilIndexed } from './indexer-process.ts';
import { GUARDS, MAX_CHANGE_E18, PackedMarket } from './packed-market.ts';

/** Pools of both layouts that are created while the indexer follows the chain: it must know them ever after. */

const CHAIN_ID = 31_337;
/** Two windows of finality and some: the pool's creation is final then. */
const FINAL_AFTER_BLOCKS = 70;
const LIMIT_MS = 120_000;

type GuardedPool = Awaited<ReturnType<PackedMarket['openGuardedPool']>>;

const anvil = startedWorld(() => startAnvil({ chainId: CHAIN_ID }));
const database = startedWorld(createMigratedDatabase);
const folder = startedWorld(() => createTempFolder('new-pools'));
const hostile = new HostileTokens();
const world = openWorld(async (ends) => {
  const scenario = await runScenario({ rpcUrl: anvil.url, chainId: CHAIN_ID });
  const { deployment } = scenario;
  const chain = await connectDevChain(anvil.url);
  const packed = await PackedMarket.open(chain);
  await packed.openPools();
  await packed.act(20);
  await hostile.openPools({ chain, deployment });
  const rows = ends.adopt(await connectExact(database.url), (client) => client.end());
  const served = { chainId: CHAIN_ID, name: 'new pools', kind: 'ethereum', url: anvil.url, scenario } as const;
  const file = buildChainsFile([served]);
  file.chains[0]?.deployments.push(...packed.deployments());
  const chainsFile = join(folder.path, 'chains.json');
  await writeFile(chainsFile, JSON.stringify(file));
  return { scenario, deployment, chain, client: connectNode(anvil.url), packed, rows, chainsFile };
});
const startIndexer = indexerStarter();
let indexer: RunningIndexer | undefined;

async function start(schema?: string): Promise<void> {
  const { chainsFile } = world;
  indexer = await startIndexer({ databaseUrl: database.url, chainsFile, ...(schema === undefined ? {} : { schema }) });
}

/** A funded pool. The same number after a reorganisation is the same pool. */
function openPool(number: number): Promise<ScenarioPool> {
  const [plan] = TRADING_POOLS;
  if (plan === undefined) throw new Error('no plan');
  const { finish: _, ...quiet } = plan;
  return buildPool({ ...world, tokens: world.scenario.tokens }, quiet, number);
}

const mine = (blocks: number) => request(anvil.url, 'anvil_mine', [blocks]);
const head = async () => Number(await world.client.getBlockNumber());

const walked = async () => ({
  ...world,
  databaseUrl: database.url,
  chainId: CHAIN_ID,
  file: JSON.parse(await readFile(world.chainsFile, 'utf8')),
});

/** @returns addresses of packed pools */
async function expectIndexToEqualChain(): Promise<readonly Address[]> {
  if (indexer === undefined) throw new Error('no indexer');
  await waitUntilIndexed(indexer, new Map([[CHAIN_ID, await head()]]), LIMIT_MS);
  const onChain = await readChainPools(world.client, world.deployment.poolFactory);
  const indexed = await readIndexedPools(world.rows, CHAIN_ID);
  for (const [address, pool] of onChain) expect(indexed.get(address), address).toEqual(pool);
  const packed: Address[] = [];
  for (const setup of world.packed.setups) packed.push(...(await expectPackedIndexed({ ...world, setup }, CHAIN_ID)));
  expect([...indexed.keys()].sort()).toEqual([...onChain.keys(), ...packed].sort());
  return packed;
}

/** Every packed pool that trades has sold and bought, over more than one bin at a time. */
async function expectPackedTrades(pools: number): Promise<void> {
  const sql = `SELECT pool, count(*) FILTER (WHERE zero_for_one) AS sales, count(*) FILTER (WHERE NOT zero_for_one) AS buys,
    max(array_length(parts, 1)) AS max_bins FROM live.swap WHERE details IS NOT NULL GROUP BY pool`;
  const traded = (await world.rows.query(sql)).rows;
  expect(traded).toHaveLength(pools);
  for (const counts of traded) {
    expect(Math.min(counts.sales, counts.buys, counts.max_bins - 1), JSON.stringify(counts)).toBeGreaterThan(0);
  }
}

/** What the API shows of the index, once capture has looked at it. */
async function expectListed(guarded: GuardedPool): Promise<void> {
  const served = serveIndex(database.url, JSON.parse(await readFile(world.chainsFile, 'utf8')));
  try {
    await served.capture();
    await hostile.expectListed(served.listing, CHAIN_ID);
    const flat = world.scenario.pools.find(({ name }) => name === 'velocity-guard');
    const feed = world.scenario.feeds.find(({ name }) => name === 'ETH/USD jumping');
    if (flat === undefined || feed === undefined) throw new Error('no guarded pool');
    const pools = [...world.scenario.pools.map(({ address }) => address), guarded.pool];
    await world.packed.moveAnchor(guarded, 2n * Q64);
    await expectRejected(served, CHAIN_ID, pools, { [flat.address]: true, [guarded.pool]: true });
    await world.packed.moveAnchor(guarded, Q64);
    await setFeedPrice(world.chain, world.deployment, { feedId: feed.id, priceX64: toX64(feed.usd) });
    await expectRejected(served, CHAIN_ID, pools, { [flat.address]: false, [guarded.pool]: false });
  } finally {
    await served.stop();
  }
}

/** Of extensions of a packed deployment, in their own units. */
async function expectGuardsIndexed(pool: string): Promise<void> {
  const rowOf = async (table: string) =>
    (await world.rows.query(`SELECT * FROM live.${table} WHERE chain_id = $1 AND pool = $2`, [CHAIN_ID, pool])).rows[0];
  expect(await rowOf('stop_loss')).toMatchObject({
    drawdown_e6: BigInt(GUARDS.drawdownE6),
    timelock_secs: BigInt(GUARDS.timelockSecs),
    decay_per_second_e18: GUARDS.decayPerSecondE18,
    decay_per_second_e8: null,
  });
  expect(await rowOf('price_velocity')).toMatchObject({ max_change_per_block_e18: MAX_CHANGE_E18 });
}

test('a pool met on the way is followed after a restart, and found by an index built from the cache', {
  timeout: 5 * LIMIT_MS,
}, async () => {
  await start();
  const { address } = await openPool(500);
  const guarded = await world.packed.openGuardedPool();
  await world.packed.openPools();
  await world.packed.act(12);
  await hostile.openPools(world);
  await mine(FINAL_AFTER_BLOCKS);
  await vi.waitFor(
    async () => {
      const sql = 'SELECT count(*) AS n FROM ponder_sync.logs WHERE address = $1';
      expect((await world.rows.query(sql, [address])).rows[0]?.n).toBeGreaterThan(0);
    },
    { timeout: LIMIT_MS, interval: 200 },
  );
  await indexer?.stop();
  const bins = [{ bin: 0, shares: 10n ** 18n }];
  await addLiquidity(world.chain, world.deployment, { pool: address, owner: world.chain.roles.provider, bins });
  await world.packed.act(9);
  await start();
  await expectIndexToEqualChain();
  await expectPackedTrades(4);
  await expectGuardsIndexed(guarded.pool);
  await hostile.expectIndexed(world.rows, CHAIN_ID);
  await expectListed(guarded);
  await indexer?.stop();
  await start('onchain_2');
  await vi.waitFor(async () => expect(await servedSchema(world.rows)).toBe('onchain_2'), {
    timeout: LIMIT_MS,
    interval: 200,
  });
  await expectIndexToEqualChain();
  await hostile.expectIndexed(world.rows, CHAIN_ID);
});

test('a pool that a reorganisation creates earlier is followed from there', { timeout: 3 * LIMIT_MS }, async () => {
  // The first test leaves it running.
  if (indexer === undefined) await start('onchain_2');
  const before = await head();
  await mine(8);
  const late = await openPool(600);
  await world.packed.act(6);
  await expectIndexToEqualChain();
  const replaced = await head();
  // Sites that read further behind than the chain goes back read nothing that is replaced.
  const site = await walkBehind(await walked(), replaced - before);
  await request(anvil.url, 'anvil_rollback', [replaced - before]);
  const early = await openPool(600);
  expect(early.address).toBe(late.address);
  await world.packed.act(4);
  // Beyond the replaced head: an index that stands there has seen the new branch.
  await mine(Math.max(15, replaced - (await head()) + 5));
  const packed = await expectIndexToEqualChain();
  const later = await walkBehind(await walked(), 0);
  for (const [pair, events] of site.pairs) expect(later.pairs.get(pair)?.slice(0, events.length)).toEqual(events);
  expect(await expectPackedWalked(await walked(), packed)).toBeGreaterThan(20);
});

// Deltas of swaps are scaled in pools of one packed factory, and raw in those of the other.
test('once all is final, the comparison with the chain finds no difference', { timeout: LIMIT_MS }, async () => {
  await mine(FINAL_AFTER_BLOCKS);
  await expectIndexToEqualChain();
  const pool = new pg.Pool({ connectionString: database.url, max: 2 });
  const audit = () => auditPools(pool, world.chainsFile, CHAIN_ID);
  for (let times = 0; times < 2; times += 1) {
    await audit();
    await mine(1);
    await expectIndexToEqualChain();
  }
  const audited = await audit();
  await pool.end();
  expect(differencesOf(audited)).toEqual(new Map());
  const shown = audited.map((row) => row.shown);
  expect(shown.filter((facts) => facts.includes('swapsOfScaledUnits'))).not.toEqual([]);
  expect(audited.filter(({ audited_block }) => audited_block === null)).toEqual([]);
});
