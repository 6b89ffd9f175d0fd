import { randomUUID } from 'node:crypto';
import { type Hex, keccak256, numberToHex } from 'viem';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { ChainRpc, openChainRpc } from '../../chain/chain-rpc.ts';
import type { CheckedRequest } from '../../chain/checked-request.ts';
import { startAnvil } from '../../devnet/anvil.ts';
import { connectDevChain, submit } from '../../devnet/dev-chain.ts';
import { type Random, seededRandom } from '../../devnet/traffic/random.ts';
import { migratedDatabase } from '../../test/harness/migrated-database.ts';
import { createOnchainTables, setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { openWorld, startedWorld } from '../../test/harness/open-world.ts';
import { seedAddress } from '../../test/harness/seed-pools.ts';
import { chainConfig } from '../../test/quotes/quote-world.ts';
import { recordLandings } from './record-landings.ts';

/*
 * Of updates for blocks of a real chain: those whose transaction the chain has in that block, by its receipts, landed,
 * and each block of a pool's updates counts once in its hour.
 */

const CHAIN = 31_337;
const HOUR = 3_600;
const POOLS = [1, 2, 3].map((n) => seedAddress(n));
/** No sample of it is kept. */
const UNFUNDED = seedAddress(4);
/** Blocks beyond those that a run reads. */
const BLOCKS = 30;

interface Update {
  readonly id: string;
  readonly block: bigint;
  readonly txHash: Hex | null;
  readonly pools: readonly string[];
  readonly minutesOld: number;
}

const anvil = startedWorld(() => startAnvil({ chainId: CHAIN }));
const home = migratedDatabase();
const dev = openWorld(async () => ({ chain: await connectDevChain(anvil.url) }));

beforeAll(() => createOnchainTables(home.pool));

beforeEach(() => home.pool.query('TRUNCATE operator.pamm_submission, history.executability_hour'));

/** Mines blocks with some transactions each, minutes apart. @returns the transactions by block */
async function mineBlocks(random: Random): Promise<Map<bigint, Hex[]>> {
  const { client, roles } = dev.chain;
  await client.setAutomine(false);
  const mined = new Map<bigint, Hex[]>();
  for (let block = 0; block < BLOCKS; block++) {
    const sent: Hex[] = [];
    for (let count = random.integer(0, 3); count > 0; count--)
      sent.push(await submit(dev.chain, { from: roles.trader, to: roles.owner, data: '0x' }));
    await client.increaseTime({ seconds: 400 });
    await client.mine({ blocks: 1 });
    mined.set(await client.getBlockNumber(), sent);
  }
  return mined;
}

function drawUpdate(random: Random, mined: ReadonlyMap<bigint, readonly Hex[]>): Update {
  const numbers = [...mined.keys()];
  const block = random.pick(numbers);
  const [own, any] = [mined.get(block) ?? [], [...mined.values()].flat()];
  const elsewhere = [random.pick(any), keccak256(numberToHex(random.integer(1, 1_000_000)))];
  const txHash = random.chance(10)
    ? null
    : random.chance(40) && own.length > 0
      ? random.pick(own)
      : random.pick(elsewhere);
  const pools = [...POOLS, UNFUNDED].filter(() => random.chance(40));
  return { id: randomUUID(), block, txHash, pools, minutesOld: random.chance(15) ? 0 : 3 };
}

async function audit({ id, block, txHash, pools, minutesOld }: Update): Promise<void> {
  await home.pool.query(
    `INSERT INTO operator.pamm_submission (submission_id, chain_id, received_at, replacement_uuid, replacement_seq_number,
       block_number, is_cancel, tx_hash, pools) VALUES ($1, $2, now() - $3 * interval '1 minute', '0x', 1, $4, $5, $6, $7)`,
    [id, CHAIN, minutesOld, String(block), txHash === null, txHash, pools],
  );
}

async function timeOf(blockNumber: bigint): Promise<number> {
  return Number((await dev.chain.client.getBlock({ blockNumber })).timestamp);
}

/** Whether the chain has the transaction in the block. */
async function isIn({ block, txHash }: Update): Promise<boolean> {
  const receipt = await dev.chain.client.getTransactionReceipt({ hash: txHash as Hex }).catch(() => null);
  return receipt?.blockNumber === block;
}

/** Keeps a sample of each hour for the funded pools, as capture does once a minute. */
async function keepSamples(fromTs: number, toTs: number): Promise<void> {
  for (let hour = fromTs - (fromTs % HOUR); hour <= toTs; hour += HOUR) {
    await home.pool.query(`SELECT history.keep_partitions('executability_hour', $1, 0)`, [hour]);
    await home.pool.query('INSERT INTO history.executability_hour SELECT $1, unnest($2::text[]), $3, 1, 1, 0, 0, $3', [
      CHAIN,
      POOLS,
      hour,
    ]);
  }
}

const isJudged = ({ block, txHash, pools }: Update, finalBlock: bigint) =>
  block <= finalBlock && txHash !== null && pools.length > 0;

/**
 * Updates that are judged when these are given one part after the other: with each part, those of blocks that have an
 * update old enough. Younger ones, and those that came earlier, are judged with those of their block.
 */
function dueUpdates(parts: readonly (readonly Update[])[], finalBlock: bigint): readonly Update[] {
  const due = new Set<Update>();
  for (const [index, part] of parts.entries()) {
    const old = part.filter((each) => isJudged(each, finalBlock) && each.minutesOld > 2);
    const blocks = new Set(old.map(({ block }) => block));
    for (const each of parts.slice(0, index + 1).flat())
      if (isJudged(each, finalBlock) && blocks.has(each.block)) due.add(each);
  }
  return [...due];
}

/** Blocks of a pool's updates by pool and hour, and how many of them have one that landed. */
async function countBlocks(
  due: readonly Update[],
  landed: ReadonlyMap<string, boolean | null>,
): Promise<Map<string, readonly [blocks: number, successes: number]>> {
  const counts = new Map<string, readonly [number, number]>();
  for (const pool of POOLS) {
    const ofPool = due.filter(({ pools }) => pools.includes(pool));
    for (const block of new Set(ofPool.map((update) => update.block))) {
      const own = ofPool.filter((update) => update.block === block);
      const ts = await timeOf(block);
      const key = `${pool} ${ts - (ts % HOUR)}`;
      const [blocks, successes] = counts.get(key) ?? [0, 0];
      counts.set(key, [blocks + 1, successes + (own.some(({ id }) => landed.get(id)) ? 1 : 0)]);
    }
  }
  return counts;
}

/** Expects shares of landed blocks, over all hours, to be those of the counts. */
async function expectShares(counts: ReadonlyMap<string, readonly [number, number]>): Promise<void> {
  for (const pool of POOLS) {
    const ofPool = [...counts].filter(([key]) => key.startsWith(pool)).map(([, count]) => count);
    const sum = (index: 0 | 1) => ofPool.reduce((total, count) => total + count[index], 0);
    const { rows } = await home.pool.query('SELECT * FROM read_model.executability($1, $2, $3, $4)', [
      CHAIN,
      pool,
      0,
      Number.MAX_SAFE_INTEGER,
    ]);
    expect(rows).toEqual([
      {
        committed_share: 1,
        live_share: null,
        own_landed_share: expect.closeTo(sum(1) / sum(0), 12),
        sealed_share: null,
      },
    ]);
  }
}

test('updates landed that the chain has in their block, and each block counts once for each pool', async () => {
  const random = seededRandom(13);
  const mined = await mineBlocks(random);
  const numbers = [...mined.keys()];
  const finalBlock = numbers.at(-4) as bigint;
  await keepSamples(await timeOf(numbers[0] as bigint), await timeOf(numbers.at(-1) as bigint));
  const timestamp = await timeOf(finalBlock);
  await setIndexedBlock(home.pool, { chainId: CHAIN, number: Number(finalBlock), timestamp, isFinal: true });
  const updates = Array.from({ length: 120 }, () => drawUpdate(random, mined));
  // What the audit trail gets later is counted as if it had come at once.
  const [first, later] = [updates.slice(0, 60), updates.slice(60)];
  for (const update of first) await audit(update);

  const rpc = openChainRpc(chainConfig(CHAIN, [anvil.url]), 5_000);
  const run = (hasSpareCalls = () => true) =>
    recordLandings({ database: home.pool, chainId: CHAIN, rpc, hasSpareCalls });
  await run(() => false);
  const unread = await home.pool.query('SELECT FROM operator.pamm_submission WHERE has_landed IS NOT NULL');
  expect(unread.rowCount).toBe(0);
  for (let times = 0; times < 4; times++) await run();
  for (const update of later) await audit(update);
  for (let times = 0; times < 4; times++) await run();

  const due = dueUpdates([first, later], finalBlock);
  const landed = new Map<string, boolean | null>(updates.map(({ id }) => [id, null]));
  for (const update of due) landed.set(update.id, await isIn(update));
  const { rows } = await home.pool.query('SELECT submission_id AS id, has_landed FROM read_model.pamm_submission');
  expect(new Map(rows.map(({ id, has_landed }) => [id, has_landed]))).toEqual(landed);
  expect(new Set(landed.values())).toEqual(new Set([true, false, null]));

  const counts = await countBlocks(due, landed);
  const stored = await home.pool.query(
    'SELECT pool, hour_ts, own_block_count AS n, own_landed_count AS k FROM history.executability_hour WHERE own_block_count > 0',
  );
  expect(new Map(stored.rows.map(({ pool, hour_ts, n, k }) => [`${pool} ${hour_ts}`, [n, k]]))).toEqual(counts);
  await expectShares(counts);
});

/** Nodes that do not have a block any more. */
class PrunedRpc extends ChainRpc {
  readonly #lost: bigint;

  constructor({ endpoints }: ChainRpc, lost: bigint) {
    super(endpoints);
    this.#lost = lost;
  }

  override async request<T>(method: string, params: readonly unknown[], check: CheckedRequest<T>['check']): Promise<T> {
    const isLost = params[0] === numberToHex(this.#lost);
    return super.request<T>(method, params, (result, node) => check(isLost ? null : result, node));
  }
}

test('a block that no node has keeps no update for a later block from being judged', async () => {
  const { client } = dev.chain;
  await client.mine({ blocks: 2 });
  const last = await client.getBlockNumber();
  const timestamp = await timeOf(last);
  await setIndexedBlock(home.pool, { chainId: CHAIN, number: Number(last), timestamp, isFinal: true });
  for (const block of [last - 1n, last])
    await audit({ id: randomUUID(), block, txHash: keccak256('0x'), pools: POOLS, minutesOld: 3 });

  const rpc = new PrunedRpc(openChainRpc(chainConfig(CHAIN, [anvil.url]), 5_000), last - 1n);
  await recordLandings({ database: home.pool, chainId: CHAIN, rpc, hasSpareCalls: () => true });

  const { rows } = await home.pool.query('SELECT block_number AS block, has_landed FROM operator.pamm_submission');
  const landed = new Map(rows.map(({ block, has_landed }) => [BigInt(block), has_landed]));
  expect(landed).toEqual(
    new Map([
      [last - 1n, null],
      [last, false],
    ]),
  );
});
