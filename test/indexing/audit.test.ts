import { readFile, writeFile } from 'node:fs/promises';
import type { Address } from 'viem';
import { beforeAll, expect, test, vi } from 'vitest';
import { readAuditCounts } from '../../capture/audit/audit-report.ts';
import { swap } from '../../devnet/actions.ts';
import { connectDevChain } from '../../devnet/dev-chain.ts';
import { request } from '../../devnet/json-rpc.ts';
import { packedSwap } from '../../devnet/packed/actions.ts';
import { createPackedPool } from '../../devnet/packed/random-pool.fixture.ts';
import { stockTokens } from '../../devnet/random-pool.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { buildPool } from '../../devnet/scenario/pool-builder.ts';
import { TRADING_POOLS } from '../../devnet/scenario/trading-pools.ts';
import { readChain } from '../../quoting/pools/catalog-rows.ts';
import { backfill, startBackfillWorld } from '../backfill/backfill-world.ts';
import { openWorld } from '../harness/open-world.ts';
import { serveIndex } from '../metadata/served-index.ts';
import { ordinaryRecipe } from '../packed/observed-swaps.ts';
import { type AuditRow, auditPools, differencesOf, suspectedOf } from './audit-pools.ts';
import { inOneBlock } from './in-one-block.ts';
import { indexerStarter, type RunningIndexer, waitUntilIndexed } from './indexer-process.ts';

/** Two chains with pools of both layouts. The node of the second leaves logs out from the start, the other later. */

const LIMIT_MS = 300_000;
/** First topics of swaps, flat and packed. */
const SWAPS = [
  '0x87d25816ca01843f551b4caa5eea03b5173c84c383573c63081fb7575378276e',
  '0x9734819749a91fc3be03ea83205f924ee08479bd3f0da48efc91d94d050cac1e',
];
/** More blocks than an index may undo, twice. */
const FINAL = '0x46';
const [FIRST, SECOND] = [31_337, 31_338];

const world = openWorld(async (ends) => {
  const started = ends.adopt(await startBackfillWorld(60), ({ stop }) => stop());
  const { url = '' } = started.chains.find(({ chainId }) => chainId === FIRST) ?? {};
  const firstNode = ends.adopt(await startRpcProxy(url), ({ stop }) => stop());
  const file = await readFile(started.chainsFile, 'utf8');
  await writeFile(started.chainsFile, file.replaceAll(url, firstNode.url));
  return { ...started, firstNode };
});
const startIndexer = indexerStarter();
let indexer: RunningIndexer;
/** Pools of which the node left a transaction out in the first test. */
let leftOut: ReadonlyMap<string, string> = new Map();

/** Pools of the first chain that were made in the block of their first swaps, before the indexer was started. */
let madeBefore: readonly string[] = [];

beforeAll(async () => {
  madeBefore = await makeInOneBlock(600);
  for (const { url } of world.chains) await request(url, 'anvil_mine', [FINAL]);
}, LIMIT_MS);

/** Makes a flat and a packed pool of the first chain, with a swap in each, in one block. */
async function makeInOneBlock(salt: number): Promise<readonly string[]> {
  const { url, scenario } = chainOf(FIRST);
  const chain = await connectDevChain(url);
  const { deployment, tokens, packed } = scenario;
  const [plan] = TRADING_POOLS;
  if (plan === undefined || packed === undefined) throw new Error('no plan');
  const { finish: _, ...quiet } = plan;
  const shelf = await stockTokens(chain, packed);
  return inOneBlock(url, async () => {
    const flat = await buildPool({ chain, deployment, tokens }, quiet, salt);
    await swap(chain, deployment, { pool: flat.address, zeroForOne: true, amountSpecified: 10n ** 12n });
    const other = await createPackedPool({ chain, deployment: packed, shelf }, ordinaryRecipe(6, 18));
    await packedSwap(chain, packed, { pool: other.address, zeroForOne: true, amountSpecified: 10n ** 6n });
    return [flat.address.toLowerCase(), other.address.toLowerCase()];
  });
}

function chainOf(chainId: number) {
  const chain = world.chains.find((each) => each.chainId === chainId);
  if (chain === undefined) throw new Error('no such chain');
  return chain;
}

async function catchUp(): Promise<void> {
  const heads = await Promise.all(world.chains.map(async ({ chainId, head }) => [chainId, await head()] as const));
  await waitUntilIndexed(indexer, new Map(heads), LIMIT_MS);
}

const mine = (chainId: number, blocks: string) => request(chainOf(chainId).url, 'anvil_mine', [blocks]);

const audit = (chainId: number, url?: string): Promise<AuditRow[]> =>
  auditPools(world.database, world.chainsFile, chainId, { url: url ?? chainOf(chainId).url });

/**
 * Compares thrice, each after another block: the first finds out how a packed factory stores,
 * the others find what differs.
 */
async function auditToTheEnd(chainId: number): Promise<ReadonlyMap<string, readonly string[]>> {
  for (let times = 0; times < 2; times += 1) {
    await audit(chainId);
    await mine(chainId, '0x1');
    await catchUp();
  }
  return differencesOf(await audit(chainId));
}

/** The numbers of pools that were compared, at any time. */
const audited = (rows: readonly AuditRow[]) => rows.filter(({ audited_block }) => audited_block !== null).length;

/** Listings and the status show that these pools of the second chain differ, and no others. */
async function expectShown(differing: readonly string[]): Promise<void> {
  const file = JSON.parse(await readFile(world.chainsFile, 'utf8'));
  const served = serveIndex(world.databaseUrl, { ...file, chains: file.chains.toReversed() });
  try {
    await vi.waitFor(async () => {
      await served.capture();
      const { data, sums } = await served.listing.page(SECOND, { include24h: true, count: 100 });
      const marked = data.filter(({ indexState }) => indexState === 'differs');
      expect(marked.map(({ poolAddress }) => poolAddress).sort()).toEqual(differing);
      for (const pool of data) expect(pool.analytics24h === null, pool.poolAddress).toBe(marked.includes(pool));
      expect(marked.every(({ tvlFiat }) => tvlFiat === null)).toBe(true);
      const known = data.reduce((sum, { tvlFiat }) => sum + (tvlFiat ?? 0), 0);
      expect(sums?.tvlFiat).toBeCloseTo(known, 3);
    }, LIMIT_MS);
    await vi.waitFor(() => {
      const { auditedToBlock, differingPools, differingFactories, lastDifferenceAt } = served.ages(SECOND).audit;
      expect(differingPools.map(({ poolAddress }) => poolAddress).sort()).toEqual(differing);
      // They never agreed.
      expect(differingPools.every(({ agreedBlock }) => agreedBlock === null)).toBe(true);
      expect(differingFactories).toEqual([]);
      expect(auditedToBlock).toBeGreaterThan(100);
      expect(lastDifferenceAt).toBeGreaterThan(0);
    }, LIMIT_MS);
  } finally {
    await served.stop();
  }
}

/**
 * Lets the node of a chain give no log of the first swap that it gives of a flat pool, and of one or all packed ones;
 * fills in their transactions.
 */
function leaveOut(chainId: number, packed: 'one' | 'all' = 'one'): ReadonlyMap<string, string> {
  const left = new Map<string, string>();
  const poolsOf = (generation: 'flat' | 'packed') =>
    chainOf(chainId).scenario.pools.filter((pool) => pool.generation === generation);
  const [flat, one] = [poolsOf('flat'), poolsOf('packed')].map((pools) => pools.find(({ busy }) => busy));
  const pools = [flat, ...(packed === 'all' ? poolsOf('packed') : [one])].map((pool) => pool?.address);
  const node = chainId === FIRST ? world.firstNode : world.secondNode;
  node.misbehave({
    kind: 'otherLogs',
    of: (logs) => {
      for (const { address, topics, transactionHash } of logs) {
        const isFirst = pools.includes(address as Address) && SWAPS.includes(topics[0] ?? '') && !left.has(address);
        if (isFirst) left.set(address, transactionHash);
      }
      return logs.filter(({ address, transactionHash }) => left.get(address) !== transactionHash);
    },
  });
  return left;
}

test('pools whose logs a node left out from the start are found and named, and nothing else, also if no packed one is right', {
  timeout: LIMIT_MS,
}, async () => {
  leftOut = leaveOut(SECOND, 'all');
  // One that is given its schema repairs nothing by itself.
  indexer = await startIndexer({ ...world, schema: 'onchain_1' });
  world.secondNode.misbehave(null);
  await catchUp();
  const wrong = [...leftOut.keys()].sort();
  expect(wrong.length).toBeGreaterThan(2);
  expect(await auditToTheEnd(FIRST)).toEqual(new Map());
  const found = await auditToTheEnd(SECOND);
  expect([...found.keys()].sort()).toEqual(wrong);
  const rows = await audit(SECOND);
  expect(rows.filter(({ shown }) => shown.some((fact) => fact.startsWith('swaps')))).toEqual([]);
  await expectShown(wrong);
  expect([...found.values()].every((facts) => facts.includes('binBalances0') && facts.includes('binBalances1'))).toBe(
    true,
  );
});

test('without faults nothing differs: with reorganisations, and pools made in the block of their first swaps', {
  timeout: LIMIT_MS,
}, async () => {
  const { url, traffic, scenario } = chainOf(FIRST);
  const made = [...madeBefore, ...(await makeInOneBlock(700))];
  for (let round = 0; round < 6; round += 1) {
    for (let done = 0; done < 5; done += 1) await traffic.step();
    await traffic.settle();
    await mine(FIRST, '0xa');
    if (round % 2 === 1) {
      await request(url, 'anvil_reorg', [8, []]);
      await mine(FIRST, '0x1');
    }
    await catchUp();
    expect(differencesOf(await audit(FIRST))).toEqual(new Map());
  }
  await mine(FIRST, FINAL);
  await catchUp();
  expect(await auditToTheEnd(FIRST)).toEqual(new Map());
  const rows = await audit(FIRST);
  expect(audited(rows)).toBe(scenario.pools.length + made.length + 2);
  for (const pool of made) {
    const { rows: swaps } = await world.database.query('SELECT FROM live.swap WHERE pool = $1', [pool]);
    expect(swaps).toHaveLength(1);
    expect(rows.find(({ address }) => address === pool)?.shown).toContain('shares');
  }
});

test('a run takes pools until they have as many bins as it may read: listed pools first, each in its turn', {
  timeout: LIMIT_MS,
}, async () => {
  const { url } = chainOf(FIRST);
  const lastTried = async () => {
    const rows = await auditPools(world.database, world.chainsFile, FIRST, { url, bins: 1 });
    const pools = rows.filter(({ address, factory }) => address !== factory);
    const [last, previous] = pools.toSorted((one, other) => Number(other.tried_at) - Number(one.tried_at));
    expect(Number(last?.tried_at)).toBeGreaterThan(Number(previous?.tried_at));
    return last?.address;
  };
  const { rows } = await world.database.query('SELECT pool FROM operator.listed_pool WHERE chain_id = $1', [FIRST]);
  const turns: unknown[] = [];
  for (const _ of rows) turns.push(await lastTried());
  expect(rows.length).toBeGreaterThan(5);
  expect(turns.sort()).toEqual(rows.map(({ pool }) => pool).sort());
});

test('one of four turns is of the pool that has waited longest, listed or not', { timeout: LIMIT_MS }, async () => {
  const { url } = chainOf(FIRST);
  const listed = await world.database.query('SELECT pool FROM operator.listed_pool WHERE chain_id = $1', [FIRST]);
  const isListed = (address: string) => listed.rows.some(({ pool }) => pool === address);
  const turnsSince = (rows: readonly AuditRow[], begin: number) =>
    rows.filter(({ address, factory, tried_at }) => address !== factory && Number(tried_at) > begin);
  let rows = await auditPools(world.database, world.chainsFile, FIRST, { url, pools: 1 });
  for (const _ of [1, 2]) {
    const begin = Math.max(...rows.map(({ tried_at }) => Number(tried_at)));
    rows = await auditPools(world.database, world.chainsFile, FIRST, { url, pools: 4 });
    expect(
      turnsSince(rows, begin)
        .map(({ address }) => isListed(address))
        .sort(),
    ).toEqual([false, true, true, true]);
  }
});

test('pools that a node cannot read keep no others from being compared', { timeout: LIMIT_MS }, async () => {
  const before = await audit(SECOND);
  await mine(SECOND, FINAL);
  await catchUp();
  const [failing] = chainOf(SECOND).scenario.pools;
  const outOfGas = { kind: 'error', code: -32_000, message: 'out of gas' } as const;
  const address = failing?.address.slice(2).toLowerCase() ?? '';
  world.secondNode.misbehave(
    outOfGas,
    ({ method, params }) => method === 'eth_call' && JSON.stringify(params).toLowerCase().includes(address),
  );
  const rows = await audit(SECOND, world.secondNode.url);
  world.secondNode.misbehave(null);
  const unchanged = rows.filter((row) =>
    before.some((old) => old.address === row.address && old.audited_block === row.audited_block),
  );
  expect(unchanged.map((row) => row.address)).toEqual([failing?.address.toLowerCase()]);
});

test('a node without the state of that block finds nothing out', { timeout: LIMIT_MS }, async () => {
  const facts = (rows: readonly AuditRow[]) =>
    rows.map(({ address, audited_block, differences }) => [address, audited_block, differences]);
  const before = facts(await audit(SECOND));
  await mine(SECOND, FINAL);
  await catchUp();
  const pruned = { kind: 'error', code: -32_000, message: 'missing trie node' } as const;
  world.secondNode.misbehave(pruned, ({ method }) => method === 'eth_call');
  const unreadOf = (rows: readonly AuditRow[]) => rows.filter(({ is_unread }) => is_unread).length;
  const unread = await audit(SECOND, world.secondNode.url);
  expect([facts(unread), unreadOf(unread)]).toEqual([before, unread.length]);
  const counts = await readAuditCounts(world.database, SECOND);
  expect(counts.unreadFunded + counts.unreadRemaining).toBe(unread.length);
  expect((await readChain(world.database, SECOND)).unreadPools).toBe(unread.length);
  world.secondNode.misbehave(null);
  const read = await audit(SECOND, world.secondNode.url);
  expect(facts(read)).not.toEqual(before);
  expect(unreadOf(read)).toBe(0);
});

/** Runs a repair, and gives the logs that it put right. */
async function repair(): Promise<readonly Record<string, unknown>[]> {
  const command = backfill(world, ['--repair', '--json']);
  expect(await command.ended, command.stderr()).toBe(0);
  return command.lines('end').flatMap(({ repaired }) => repaired as Record<string, unknown>[]);
}

/** A block without all of its logs is one with logs, which Ponder does not ask for again. */
async function swapInOneBlock(chainId: number, swaps: number): Promise<void> {
  const { url, traffic } = chainOf(chainId);
  const { timestamp } = await request<{ timestamp: string }>(url, 'eth_getBlockByNumber', ['latest', false]);
  await request(url, 'evm_setAutomine', [false]);
  await traffic.mineAt(Number(timestamp) + 1, swaps);
  await request(url, 'evm_setAutomine', [true]);
}

/** Pools of which the node of the first chain left a transaction out later. */
let leftLater: ReadonlyMap<string, string> = new Map();

test('of pools of which a node left logs out later, the last block where both agreed is known', {
  timeout: LIMIT_MS,
}, async () => {
  leftLater = leaveOut(FIRST);
  await swapInOneBlock(FIRST, 25);
  await mine(FIRST, FINAL);
  await catchUp();
  world.firstNode.misbehave(null);
  expect(leftLater.size).toBeGreaterThan(0);
  expect([...(await auditToTheEnd(FIRST)).keys()].sort()).toEqual([...leftLater.keys()].sort());
  for (const { address, agreed_block } of await audit(FIRST)) {
    const hash = leftLater.get(address);
    if (hash === undefined) continue;
    const receipt = await request<{ blockNumber: string }>(chainOf(FIRST).url, 'eth_getTransactionReceipt', [hash]);
    expect(Number(agreed_block), address).toBe(Number(receipt.blockNumber) - 1);
  }
});

test('a repair reads blocks since both agreed, makes the index whole, and says what was missing', {
  timeout: LIMIT_MS,
}, async () => {
  const differing = (await audit(FIRST)).filter(({ differs_since }) => differs_since !== null);
  const agreed = Math.min(...differing.map(({ agreed_block }) => Number(agreed_block)));
  const before = world.firstNode.requests.length;
  await world.database.query(
    `INSERT INTO operator.backfill (schema, refetched_chains, served_at) VALUES ('onchain_0', '{}', now())`,
  );
  expect(await repair(), 'none comes within ten minutes of a backfill').toEqual([]);
  await world.database.query(`UPDATE operator.backfill SET begun_at = begun_at - interval '11 minutes'`);
  const repaired = await repair();
  expect(await indexer.ended).toBe('exit code 75');
  const left = [...leftOut.keys()].map((pool) => ['missing', SECOND, pool]);
  const later = [...leftLater.keys()].map((pool) => ['missing', FIRST, pool]);
  expect(repaired.map(({ change, chainId, pool }) => [change, chainId, pool]).toSorted()).toEqual(
    [...left, ...later].toSorted(),
  );
  const read = world.firstNode.requests.slice(before).flatMap(({ method, params }) => {
    if (method !== 'eth_getLogs') return [];
    const { fromBlock } = params[0] as { readonly fromBlock?: string };
    return fromBlock === undefined ? [] : [Number(fromBlock)];
  });
  expect(read.length).toBeGreaterThan(0);
  expect(Math.min(...read)).toBeGreaterThan(agreed);
});

test('what differed before a repair is marked until it is compared again, and first of all', {
  timeout: LIMIT_MS,
}, async () => {
  const marked = async () => {
    const { differing } = await readAuditCounts(world.database, SECOND);
    const shown = (await readChain(world.database, SECOND)).differing ?? [];
    expect(shown.map(({ agreedBlock }) => agreedBlock)).toEqual(Array(differing).fill(null));
    return differing;
  };
  // Nothing has been compared in the new index yet.
  expect(await marked()).toBe(leftOut.size);
  const { url } = chainOf(SECOND);
  for (let left = leftOut.size - 1; left >= 0; left -= 1) {
    await auditPools(world.database, world.chainsFile, SECOND, { url, pools: 1 });
    expect(await marked()).toBe(left);
  }
  for (const { chainId } of world.chains) expect(suspectedOf(await audit(chainId))).toEqual([]);
  expect(audited(await audit(SECOND))).toBe(chainOf(SECOND).scenario.pools.length + 2);
  await expectShown([]);
  expect(await repair()).toEqual([]);
});
