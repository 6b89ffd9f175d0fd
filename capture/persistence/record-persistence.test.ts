import { decodeFunctionResult, encodeFunctionData, erc20Abi, numberToHex } from 'viem';
import { beforeEach, expect, test } from 'vitest';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import { CallBudget } from '../../chain/read-schedule/call-budget.ts';
import { HistoryConfig } from '../../config/chains-schema.ts';
import { quoterAbi } from '../../devnet/abi.ts';
import { balanceOf } from '../../devnet/actions.ts';
import { send } from '../../devnet/dev-chain.ts';
import { request } from '../../devnet/json-rpc.ts';
import type { ProxiedRequest } from '../../devnet/misbehaviour.ts';
import { evenBins } from '../../devnet/pools.ts';
import { silenceFeed } from '../../devnet/providers.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import {
  evenShares,
  makePool,
  movePrice,
  quoteWorld,
  SHARES_OF_ONE,
  type WorldPool,
} from '../../test/quotes/quote-world.ts';
import { indexedQuotes } from '../indexed-quotes.fixture.ts';
import { CAPTURE_CLASSES } from '../read-schedule/pool-values.ts';
import { WITHDRAWN_E6 } from './compare-quotes.ts';
import { PersistenceRecorder } from './record-persistence.ts';
import { write24h, writeDays } from './write-figures.ts';

const E6 = 1_000_000n;
const MINUTE = 60_000;
const PRICE = 0.5;

const world = quoteWorld();
const proxy = startedWorld(() => startRpcProxy(world.chain.rpcUrl));
const { home, own, index, pools, readPrices } = indexedQuotes(world, {
  rpcUrl: () => proxy.url,
  pairs: async () => [await world.pair(18, 6), await world.pair(8, 18)] as const,
});

beforeEach(async () => {
  await home.pool.query('TRUNCATE operator.price_health, history.persistence_minute, history.persistence_day');
  await home.pool.query('DELETE FROM onchain_test.pool; DELETE FROM onchain_test.pool_state');
});

/** A recorder at a clock and with a budget of its own. */
function openRecorder(persistencePools = 200, callsPerMinute = 10_000) {
  const logger = { warn: () => undefined, child: () => logger } as never;
  const clock = { ms: 1_000 * MINUTE };
  const budget = new CallBudget(callsPerMinute, CAPTURE_CLASSES, () => 0);
  const recorder = new PersistenceRecorder({
    database: own.database,
    chain: own.config,
    rpc: openChainRpc(own.config, 5_000),
    pools,
    kept: { ...HistoryConfig.parse({}), persistencePools },
    fiatMaxAgeSecs: 3_600,
    budget,
    now: () => performance.now(),
    draw: () => 0,
    wallClock: () => clock.ms,
    logger,
  });
  return { recorder, clock, budget };
}

/** Records a window whose later blocks are made by these. @returns its block, and the budget that it was read with */
async function recordWindow(later: readonly (() => Promise<unknown>)[], ...limits: Parameters<typeof openRecorder>) {
  const { recorder, clock, budget } = openRecorder(...limits);
  await readPrices();
  await recorder.run();
  const number = await world.chain.client.getBlockNumber();
  for (const make of later) await make();
  clock.ms += MINUTE / 2;
  for (let steps = 0; steps < 6; steps += 1) await recorder.run();
  return { number, budget };
}

const mine = () => world.chain.client.mine({ blocks: 1 });

interface Row {
  readonly pool: string;
  readonly block: string;
  readonly bids: readonly (number | null)[];
  readonly asks: readonly (number | null)[];
  readonly bidGone: number | null;
  readonly askGone: number | null;
}

const rows = async (): Promise<ReadonlyMap<string, Row>> => {
  const { rows: found } = await own.database.query<Row>(
    `SELECT pool, block_number AS block, bid_changes_e6 AS bids, ask_changes_e6 AS asks, bid_gone_e6 AS "bidGone",
            ask_gone_e6 AS "askGone" FROM history.persistence_minute`,
  );
  return new Map(found.map((row) => [row.pool, row]));
};

/** What the chain's own quoter says of an exact input at a block: what it takes and gives; null when it reverts. */
async function quoteAt({ address }: WorldPool, zeroForOne: boolean, input: bigint, block: bigint) {
  const { deployment, chain } = world;
  const call = { abi: quoterAbi, functionName: 'quote' } as const;
  const data = encodeFunctionData({ ...call, args: [address, zeroForOne, input] });
  const sent = request<`0x${string}`>(chain.rpcUrl, 'eth_call', [{ to: deployment.quoter, data }, numberToHex(block)]);
  const result = await sent.catch(() => null);
  if (result === null) return null;
  const [amount0, amount1] = decodeFunctionResult({ ...call, data: result });
  return zeroForOne ? { taken: amount0, given: -amount1 } : { taken: amount1, given: -amount0 };
}

/** What a quote of a block became, by the chain alone; null when it was none. */
async function changeByChain(
  swap: readonly [pool: WorldPool, zeroForOne: boolean, input: bigint],
  at: bigint,
  later: bigint,
) {
  const [, , input] = swap;
  const shown = await quoteAt(...swap, at);
  if (shown?.taken !== input) return null;
  const then = await quoteAt(...swap, later);
  if (then?.taken !== input) return WITHDRAWN_E6;
  // The smallest whole loss that is not below the true one.
  let change = ((shown.given - then.given) * E6) / shown.given - 1n;
  while (change * shown.given < (shown.given - then.given) * E6) change += 1n;
  return Number(change);
}

const spec = () => ({
  pair: own.pairs[0],
  price: PRICE,
  bins: evenBins(-6, 6, 2_000),
  shares: evenShares(-6, 6, 2_000n * SHARES_OF_ONE),
});

test('samples are what the quoter of the chain says at the blocks of the window', async () => {
  const steady = await makePool(world, spec());
  const moving = await makePool(world, spec());
  const leaving = await makePool(world, spec());
  const all = [steady, moving, leaving];
  for (const pool of all) await index(pool, own.pairs[0]);
  const { number } = await recordWindow([
    () => movePrice(world, moving, PRICE * 0.9995),
    () => movePrice(world, moving, PRICE * 1.0002),
    mine,
    mine,
    () => silenceFeed(world.chain, world.deployment, leaving.feed, 'takeDown'),
  ]);
  const found = await rows();
  expect(found.size).toBe(3);
  for (const pool of all) {
    const row = found.get(pool.address);
    expect(row?.block).toBe(String(number));
    for (const [side, zeroForOne] of [
      ['bids', true],
      ['asks', false],
    ] as const) {
      const whole = await quoteAt(pool, zeroForOne, 10n ** (zeroForOne ? 30n : 20n), number);
      // token0 costs a dollar, token1 has no price.
      const inputs = zeroForOne ? [1_000n * 10n ** 18n, 10_000n * 10n ** 18n] : [null, null];
      const expected: (number | null)[] = [];
      for (const after of [1n, 2n, 5n]) {
        for (const input of [...inputs, (whole?.taken ?? 0n) / 10n]) {
          expected.push(input === null ? null : await changeByChain([pool, zeroForOne, input], number, number + after));
        }
      }
      expect(row?.[side].slice(0, 9)).toEqual(expected);
      expect(row?.[side].slice(9)).toEqual(Array(6).fill(null));
    }
  }
  const steadyRow = found.get(steady.address);
  expect(steadyRow).toMatchObject({ bidGone: 0, askGone: 0 });
  expect(steadyRow?.bids.slice(0, 9)).toEqual(Array(9).fill(0));
  const [afterOne = 0, , , afterTwo = 0] = found.get(moving.address)?.bids ?? [];
  expect(afterOne).toBeGreaterThan(400);
  expect(afterTwo).toBeLessThan(-100);
  expect(found.get(moving.address)?.bidGone).toBeGreaterThan(100_000);
  expect(found.get(leaving.address)?.bids.slice(3, 9)).toEqual([0, 0, 0, WITHDRAWN_E6, WITHDRAWN_E6, WITHDRAWN_E6]);
});

test('a window takes a bounded number of calls, and has the most valuable pools that trade', async () => {
  const made = [await makePool(world, spec()), await makePool(world, spec()), await makePool(world, spec())];
  for (const [n, pool] of made.entries()) await index(pool, own.pairs[0], BigInt(n + 1) * 10n ** 30n);
  await silenceFeed(world.chain, world.deployment, made[2]?.feed ?? '0x', 'takeDown');
  const { budget } = await recordWindow(Array(5).fill(mine), 1);
  expect([...(await rows()).keys()]).toEqual([made[1]?.address]);
  expect(budget.spent('funded')).toBeLessThanOrEqual(5 + 4 * 3);
});

test('a window leaves the calls that price reads need', async () => {
  await index(await makePool(world, spec()), own.pairs[0]);
  const { budget } = await recordWindow(Array(5).fill(mine), 200, 50);
  expect(budget.saved('funded')).toBe(budget.burst('funded'));
  expect((await rows()).size).toBe(0);
});

test('blocks at which a node gives storage without prices say nothing', async () => {
  const pool = await makePool(world, spec());
  await index(pool, own.pairs[0]);
  /** Of creation code: it asks pools for their prices. */
  const asksPrices = ({ method, params: [call] }: ProxiedRequest) =>
    method === 'eth_call' && typeof call === 'object' && call !== null && !('to' in call);
  await recordWindow([
    mine,
    async () => {
      await mine();
      const refused = JSON.stringify((await world.chain.client.getBlock()).hash);
      proxy.misbehave({ kind: 'error', code: -32_000, message: 'out of gas' }, (request) => {
        return asksPrices(request) && JSON.stringify(request.params[1]).includes(refused);
      });
    },
    ...Array(3).fill(mine),
  ]);
  proxy.misbehave(null);
  const row = (await rows()).get(pool.address);
  expect([row?.bids.slice(0, 9), row?.bidGone]).toEqual([[0, 0, 0, null, null, null, 0, 0, 0], 0]);
});

test('a side that a token closes is withdrawn, and the other one is compared', async () => {
  const pool = await makePool(world, spec());
  await index(pool, own.pairs[0]);
  /** The pool has nothing left to pay for what is sold to it. */
  const emptied = async () => {
    const { client } = world.chain;
    const { token1 } = own.pairs[0];
    await client.impersonateAccount({ address: pool.address });
    await client.setBalance({ address: pool.address, value: 10n ** 18n });
    const amount = await balanceOf(world.chain, token1, pool.address);
    const data = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transfer',
      args: [world.chain.roles.trader, amount],
    });
    await send(world.chain, { from: pool.address, to: token1, data });
  };
  await recordWindow([emptied, ...Array(4).fill(mine)]);
  const row = (await rows()).get(pool.address);
  expect(row?.bids.slice(0, 9)).toEqual(Array(9).fill(WITHDRAWN_E6));
  expect(row?.bidGone).toBe(WITHDRAWN_E6);
  expect(row?.asks.slice(0, 9)).toEqual([0, 1, 2].flatMap(() => [null, null, 0]));
  expect(row?.askGone).toBe(0);
  // There is one sample in a minute.
  await home.pool.query('TRUNCATE history.persistence_minute');
  await recordWindow(Array(5).fill(mine));
  const closed = (await rows()).get(pool.address);
  expect(closed?.bids.slice(0, 9)).toEqual(Array(9).fill(null));
  expect(closed?.asks.slice(0, 9)).toEqual([0, 1, 2].flatMap(() => [null, null, 0]));
  expect([closed?.bidGone, closed?.askGone]).toEqual([null, null]);
});

test('days have exact percentiles of their samples', async () => {
  const pool = '0x00000000000000000000000000000000000000aa';
  const day = 20_000 * 86_400;
  const now = day + 86_400 + 300;
  await home.pool.query(`SELECT history.keep_partitions('persistence_minute', $1, 0)`, [day]);
  const changes = Array.from({ length: 150 }, (_, n) => (n % 10 === 9 ? WITHDRAWN_E6 : ((n * 37) % 700) - 50));
  for (const [n, change] of changes.entries()) {
    const bids = [change, null, null, ...Array(12).fill(null)];
    const values = [
      own.config.chainId,
      pool,
      day + 86_399 - 60 * n,
      n,
      bids,
      Array(15).fill(null),
      n % 2 ? 250_000 : null,
    ];
    await home.pool.query('INSERT INTO history.persistence_minute VALUES ($1, $2, $3, $4, $5, $6, $7, NULL)', values);
  }
  await writeDays(own.database, own.config.chainId, HistoryConfig.parse({}), now);
  await write24h(own.database, own.config.chainId, now);
  const sorted = changes.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.ceil(share * sorted.length) - 1] ?? 0) / 100;
  const shareOf = (is: (change: number) => boolean) => changes.filter(is).length / changes.length;
  const { rows: days } = await own.database.query('SELECT * FROM history.persistence_day');
  const figures = { median_bps: at(0.5), p95_bps: at(0.95), gone_share: 0.25 };
  const withdrawn = expect.closeTo(
    shareOf((change) => change === WITHDRAWN_E6),
    12,
  );
  expect(days).toEqual([
    {
      chain_id: String(own.config.chainId),
      pool,
      day_ts: String(day),
      side: 'bids',
      horizon: '1_block',
      sample_count: '150',
      ...figures,
      worse_1bp_share: expect.closeTo(
        shareOf((change) => change > 100),
        12,
      ),
      worse_5bps_share: expect.closeTo(
        shareOf((change) => change > 500),
        12,
      ),
      withdrawn_share: withdrawn,
      better_share: expect.closeTo(
        shareOf((change) => change < 0),
        12,
      ),
    },
  ]);
  const { rows: recent } = await own.database.query(
    'SELECT median_bps, p95_bps, gone_share, withdrawn_share FROM operator.pool_persistence',
  );
  expect(recent).toEqual([{ ...figures, withdrawn_share: withdrawn }]);
  await home.pool.query('DELETE FROM history.persistence_minute WHERE block_number >= 99');
  await write24h(own.database, own.config.chainId, now);
  expect((await own.database.query('SELECT FROM operator.pool_persistence')).rowCount).toBe(0);
});

test('a day has the samples that come after its end, whenever the hourly run is', async () => {
  const day = 20_010 * 86_400;
  const insert = async (ts: number) => {
    await home.pool.query(`SELECT history.keep_partitions('persistence_minute', $1, 0)`, [ts]);
    const none = Array(14).fill(null);
    const values = [
      own.config.chainId,
      '0x00000000000000000000000000000000000000aa',
      ts,
      ts,
      [0, ...none],
      [null, ...none],
    ];
    await home.pool.query('INSERT INTO history.persistence_minute VALUES ($1, $2, $3, $4, $5, $6, NULL, NULL)', values);
  };
  const countsAt = async (now: number) => {
    await writeDays(own.database, own.config.chainId, HistoryConfig.parse({}), now);
    const { rows: days } = await own.database.query<{ count: string }>(
      'SELECT sample_count AS count FROM history.persistence_day ORDER BY day_ts',
    );
    return days.map(({ count }) => Number(count));
  };
  const end = day + 86_400;
  await insert(end - 120);
  await insert(end + 5);
  expect(await countsAt(end + 10)).toEqual([1, 1]);
  await insert(end - 60);
  expect(await countsAt(end + 10 + 3_600)).toEqual([2, 1]);
  // A run takes no part of what is over.
  await insert(end - 30);
  expect(await countsAt(end + 2 * 3_600)).toEqual([2, 1]);
});
