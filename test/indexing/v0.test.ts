import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { ChainDay } from '../../api/adapters/defillama-declaration.ts';
import { writeTradeMinutes } from '../../db/history/trade-minutes.ts';
import { startAnvil } from '../../devnet/anvil.ts';
import { buildChainsFile } from '../../devnet/chains-config.ts';
import { connectDevChain } from '../../devnet/dev-chain.ts';
import { request } from '../../devnet/json-rpc.ts';
import { runScenario } from '../../devnet/scenario.ts';
import { onFreePort } from '../../local/services/on-free-port.ts';
import { startOwnProcess } from '../../local/services/own-process.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { createMigratedDatabase } from '../harness/database.ts';
import { openWorld, startedWorld } from '../harness/open-world.ts';
import { seedAddress } from '../harness/seed-pools.ts';
import { serveIndex } from '../metadata/served-index.ts';
import { connectExact } from './indexed-pools.ts';
import { indexerStarter, type RunningIndexer, waitUntilIndexed } from './indexer-process.ts';
import { V0Chain, type V0SwapLog } from './v0-chain.ts';
import { loggedV0Days } from './v0-days.ts';

/** Pools of the oldest generation besides others on a chain, which a real indexer follows, and what readers get. */

const CHAIN_ID = 31_337;
const LIMIT_MS = 120_000;
/** Two windows of finality and some. */
const BLOCKS_TO_FINALITY = 70;
const MINUTE = 60;
const DAY = 86_400;
const BLOCKS_IN_DAY = 10;
/** US dollars of a whole token that has a price, and the symbol of the one that has none. */
const PRICE = 2.5;
const UNPRICED = 'EARLY';

const anvil = startedWorld(() => startAnvil({ chainId: CHAIN_ID }));
const database = startedWorld(createMigratedDatabase);
const folder = startedWorld(() => createTempFolder('v0'));
const world = openWorld(async (ends) => {
  const scenario = await runScenario({ rpcUrl: anvil.url, chainId: CHAIN_ID, onlyTrading: true });
  const chain = await connectDevChain(anvil.url);
  const v0 = await V0Chain.deploy(chain, scenario.deployment.multicall3, scenario.tokens);
  await v0.act();
  const rows = ends.adopt(await connectExact(database.url), (client) => client.end());
  const pool = ends.adopt(new pg.Pool({ connectionString: database.url, max: 2 }), (each) => each.end());
  const file = buildChainsFile([{ chainId: CHAIN_ID, name: 'devnet', kind: 'ethereum', url: anvil.url, scenario }]);
  const chainsFile = join(folder.path, 'chains.json');
  const chains = file.chains.map((each) => ({ ...each, v0FromBlock: v0.fromBlock }));
  await writeFile(chainsFile, JSON.stringify({ ...file, chains }));
  return { chain, v0, rows, pool, chainsFile };
});
const startIndexer = indexerStarter();
let indexer: RunningIndexer;

beforeAll(async () => {
  indexer = await startIndexer({ databaseUrl: database.url, chainsFile: world.chainsFile });
}, LIMIT_MS);

const mine = (blocks: number, secs = 1) => request(anvil.url, 'anvil_mine', [blocks, secs]);
const head = async () => Number(await world.chain.client.getBlockNumber());
const caughtUp = async () => waitUntilIndexed(indexer, new Map([[CHAIN_ID, await head()]]), LIMIT_MS);

/** The trades of the oldest generation are what the chain logged. */
async function expectTrades(): Promise<V0SwapLog[]> {
  await caughtUp();
  const logs = await world.v0.swapLogs();
  const { rows } = await world.rows.query(
    `SELECT project_contract_address AS pool, block_number AS block, block_timestamp AS timestamp, evt_index AS log,
       tx_hash AS transaction, taker AS recipient, token_sold_address AS sold, token_bought_address AS bought,
       token_sold_amount_raw AS sold_raw, token_bought_amount_raw AS bought_raw, tx_from, tx_to
     FROM read_model.dex_trades WHERE version = 'v0' AND chain_id = $1 ORDER BY block_number, evt_index`,
    [CHAIN_ID],
  );
  const expected = logs.map(async ({ sender: _, amounts, ...log }) => {
    const { from, to } = await world.chain.client.getTransaction({ hash: log.transaction as `0x${string}` });
    const tokens = world.v0.pools.find(({ address }) => address === log.pool);
    const [sold, bought] = amounts[0] > 0n ? [0, 1] : [1, 0];
    const ofMoved = <T>(value: T) => (amounts.every((amount) => amount === 0n) ? null : value);
    const pair = [tokens?.token0, tokens?.token1];
    return {
      ...log,
      sold: ofMoved(pair[sold]),
      bought: ofMoved(pair[bought]),
      sold_raw: ofMoved(amounts[sold]),
      bought_raw: ofMoved(-(amounts[bought] ?? 0n)),
      tx_from: from.toLowerCase(),
      tx_to: to?.toLowerCase(),
    };
  });
  expect(rows).toEqual(await Promise.all(expected));
  return logs;
}

test('each swap that the chain logged is a trade of version v0, also several of one transaction', {
  timeout: LIMIT_MS,
}, async () => {
  await world.v0.act();
  const logs = await expectTrades();
  expect(logs).toHaveLength(12);
  expect(new Set(logs.map(({ transaction }) => transaction)).size).toBe(8);
  const { rows } = await world.rows.query(
    `SELECT count(*) AS trades, sum(token_sold_amount_raw) AS sold FROM read_model.dex_trades WHERE version = 'v0'`,
  );
  const sold = logs.reduce((sum, { amounts: [amount0, amount1] }) => sum + (amount0 > 0n ? amount0 : amount1), 0n);
  expect(rows).toEqual([{ trades: 12, sold }]);
  const { rows: tokens } = await world.rows.query(
    `SELECT symbol, decimals FROM read_model.token WHERE symbol = 'EARLY' AND chain_id = $1`,
    [CHAIN_ID],
  );
  expect(tokens).toEqual([{ symbol: 'EARLY', decimals: 9 }]);
});

test('swaps that a reorganisation replaces are undone', { timeout: LIMIT_MS }, async () => {
  const before = await head();
  await world.v0.act();
  await mine(4);
  const replaced = new Set((await expectTrades()).map(({ transaction }) => transaction));
  const last = await head();
  await request(anvil.url, 'anvil_rollback', [last - before]);
  await world.v0.trade([{ pool: 1, amounts: [11n, -13n] }]);
  // Beyond the replaced head: an index that stands there has seen the new branch.
  await mine(last - (await head()) + 5);
  const logs = await expectTrades();
  expect(logs).toHaveLength(13);
  expect(logs.filter(({ transaction }) => !replaced.has(transaction))).toHaveLength(1);
});

describe('the API', () => {
  const served = openWorld(async (ends) => {
    const index = ends.adopt(serveIndex(database.url, JSON.parse(await readFile(world.chainsFile, 'utf8'))), (each) =>
      each.stop(),
    );
    await caughtUp();
    await index.capture();
    return onFreePort(async (port) => {
      const url = `http://127.0.0.1:${port}`;
      const env = {
        CHAINS_CONFIG: world.chainsFile,
        DATABASE_URL: database.url,
        REDIS_URL: inject('redisUrl'),
        HOST: '127.0.0.1',
        PORT: String(port),
        LOG_LEVEL: 'silent',
      };
      ends.adopt(await startOwnProcess({ main: 'api', env, ready: `${url}/public/v1/chains` }), ({ stop }) => stop());
      return { url };
    });
  }, LIMIT_MS);

  const ask = async (path: string, body?: object) => {
    const init = body && {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    };
    const response = await fetch(`${served.url}/public/v1/evm/${CHAIN_ID}/${path}`, init);
    return { status: response.status, body: await response.text() };
  };

  test('answers of these pools what it does of unknown ones: no listing, quote, route or history', async () => {
    const [{ address: known, token0, token1 } = { address: '', token0: '', token1: '' }] = world.v0.pools;
    const unknown = seedAddress(0xabc);
    const answers = async (pool: string) => {
      const paths = ['bid_ask', 'trades', 'days', 'ohlcv'].map((name) => `${pool}/${name}`);
      const pages = await Promise.all([`metadata?addresses=${pool}`, ...paths].map((path) => ask(path)));
      const batch = await ask('bid_ask/batch', { pools: [pool] });
      const order = { tokenIn: token0, tokenOut: token1, amountIn: '1000', poolAddress: pool };
      const all = [...pages, batch, await ask('route', order)];
      return all.map(({ status, body }) => `${status} ${body.toLowerCase().replaceAll(pool, 'pool')}`);
    };
    const ofUnknown = await answers(unknown);
    expect(ofUnknown.map((answer) => answer.slice(0, 3))).toEqual(['200', '404', '404', '404', '404', '200', '422']);
    expect(await answers(known)).toEqual(ofUnknown);
    const { body } = await ask('metadata?count=500');
    expect(body.toLowerCase()).not.toMatch(known);
    expect(JSON.parse(body).data.length).toBeGreaterThan(3);
    const { body: tokens } = await ask('tokens?count=500');
    expect(tokens).not.toMatch('EARLY');
  });

  test('counts their volume in the days of the chain, where it has a price', { timeout: 2 * LIMIT_MS }, async () => {
    // Past the end of the next day, which has final blocks, and final ones after it.
    const { timestamp } = await world.chain.client.getBlock();
    const end = (Math.floor(Number(timestamp) / DAY) + 2) * DAY;
    await request(anvil.url, 'evm_setNextBlockTimestamp', [end - BLOCKS_IN_DAY * MINUTE]);
    await mine(BLOCKS_IN_DAY + BLOCKS_TO_FINALITY, MINUTE);
    await caughtUp();
    const days = await priceDays();
    const dayOf = (day?: number) => fetch(`${served.url}/adapters/defillama/${CHAIN_ID}?timestamp=${day}`);
    await vi.waitFor(async () => {
      await writeTradeMinutes(world.pool);
      expect((await dayOf(days.at(-1))).status).toBe(200);
    }, LIMIT_MS);
    const logs = await world.v0.swapLogs();
    const { rows: tokens } = await world.rows.query('SELECT address, symbol, decimals FROM read_model.token');
    const usdOf = (address: string) => {
      const token = tokens.find((each) => each.address === address);
      return token.symbol === UNPRICED ? null : PRICE / 10 ** token.decimals;
    };
    let volume = 0;
    for (const day of days) {
      const logged = loggedV0Days(logs, world.v0.pools, day, usdOf);
      expect(await v0DaysShown(day)).toEqual(
        logged.map((each) => ({
          ...each,
          volume_usd: each.volume_usd === null ? null : expect.closeTo(each.volume_usd, 6),
          lp_fee_usd: null,
          tvl_usd: null,
          is_final: true,
        })),
      );
      const known = logged.reduce((total, { volume_usd }) => total + (volume_usd ?? 0), 0);
      const others = await otherPools(day);
      const { dailyVolume, unknown } = ChainDay.parse(await (await dayOf(day)).json());
      expect(dailyVolume).toBeCloseTo(others.volume + known, 5);
      expect(unknown.dailyVolume).toBe(others.unknown + logged.filter(({ volume_usd }) => volume_usd === null).length);
      expect(unknown.dailyFees).toBeGreaterThanOrEqual(logged.length);
      volume += known;
    }
    expect(volume).toBeGreaterThan(PRICE);
    const { rows: trades } = await world.rows.query(
      `SELECT count(*) FILTER (WHERE amount_usd IS NULL) AS unknown FROM read_model.dex_trades WHERE version = 'v0'`,
    );
    expect(trades[0].unknown).toBeGreaterThan(0);
  });
});

/** Gives all tokens but one a price on each day with a trade. @returns the days, Unix seconds */
async function priceDays(): Promise<number[]> {
  const { rows } = await world.pool.query<{ day: string }>('SELECT DISTINCT day_ts AS day FROM read_model.pool_day');
  const days = rows.map(({ day }) => Number(day)).sort((one, other) => one - other);
  for (const day of days) {
    await world.pool.query("SELECT history.keep_partitions('fiat_price_hour', $1::int8, 0)", [day]);
    await world.pool.query(
      `INSERT INTO history.fiat_price_hour SELECT chain_id, address, $1::int8 + hour * 3600, $2, 'static'
       FROM read_model.token, generate_series(0, 23) hour WHERE symbol IS DISTINCT FROM $3`,
      [day, PRICE, UNPRICED],
    );
  }
  return days;
}

async function v0DaysShown(day: number): Promise<unknown[]> {
  const { rows } = await world.rows.query(
    `SELECT d.pool, swap_count, swap_tx_count, sender_count, volume0_raw, volume1_raw, volume_usd, lp_fee_usd, tvl_usd, is_final
     FROM read_model.pool_day d JOIN read_model.v0_pool_rows() p ON p.chain_id = d.chain_id AND p.address = d.pool
     WHERE d.chain_id = $1 AND day_ts = $2 ORDER BY p.created_block_number`,
    [CHAIN_ID, day],
  );
  return rows;
}

/** Volume of the pools of other generations on a day, and how many have none that is known. */
async function otherPools(day: number): Promise<{ readonly volume: number; readonly unknown: number }> {
  const { rows } = await world.rows.query(
    `SELECT coalesce(sum(volume_usd), 0) AS volume, count(*) FILTER (WHERE volume_usd IS NULL) AS unknown
     FROM read_model.pool_day d JOIN read_model.pool p ON p.chain_id = d.chain_id AND p.address = d.pool
     WHERE d.chain_id = $1 AND day_ts = $2`,
    [CHAIN_ID, day],
  );
  return rows[0];
}
