import { OpenAPIHono } from '@hono/zod-openapi';
import pg from 'pg';
import type { Address, PublicClient } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { registerMetadata } from '../../api/metadata/metadata.ts';
import { captureJobs } from '../../capture/capture-jobs.ts';
import type { ChainsFile } from '../../config/chains-schema.ts';
import { parseChainsFile } from '../../config/load-chains.ts';
import { migrate } from '../../db/migrate.ts';
import { buildChainsFile } from '../../devnet/chains-config.ts';
import { flatPoolFunctions } from '../../protocol/abi/pool.ts';
import { createLogger } from '../../runtime/logger.ts';
import { inProcessClient } from '../harness/in-process-client.ts';
import { type IndexedWorld, startIndexedWorld, type WorldChain } from '../indexing/indexed-world.ts';
import { listingReader, type Page } from './listing-reader.ts';
import { countLogs, lpBalancesRaw } from './raw-log-analytics.ts';

const NAMES = { 31337: 'devnet-a', 31338: 'devnet-b' } as Record<number, string>;
const DAY = 86_400;

let world: IndexedWorld;
let database: pg.Pool;
let file: ChainsFile;
let listing: ReturnType<typeof listingReader>;
type Row = Page['data'][number];
let rows: readonly Row[];

/** The window's lower edge is put in the middle of the traffic: what came before must not count. */
beforeAll(async () => {
  world = await startIndexedWorld(70);
  const edge = await middleOfTraffic();
  for (const { client } of world.chains) {
    await client.request({ method: 'evm_increaseTime', params: [DAY - 2_000] } as never);
  }
  await world.act(70);
  for (const { client } of world.chains) {
    await client.request({ method: 'evm_setNextBlockTimestamp', params: [edge + DAY] } as never);
    await client.request({ method: 'anvil_mine', params: [] } as never);
  }
  await world.catchUp();
  await migrate(world.databaseUrl);
  database = new pg.Pool({ connectionString: world.databaseUrl, max: 4 });
  const served = world.chains.map((chain) => ({
    ...chain,
    name: NAMES[chain.chainId] ?? '',
    kind: 'ethereum' as const,
    url: chain.anvil.url,
  }));
  file = parseChainsFile(buildChainsFile(served), 'test');
  await runJobs();
  const app = new OpenAPIHono();
  const chains = new Map(file.chains.map((chain) => [chain.chainId, chain]));
  registerMetadata(app, { chains, database, statusMaxAgeSecs: 600 });
  listing = listingReader(inProcessClient(app));
  rows = (await listing.pageAcrossChains({ include24h: true, minTvlFiat: 0, count: 500 })).data;
}, 240_000);

afterAll(async () => {
  await database?.end();
  await world?.stop();
});

/** A second in which both chains were in the middle of what happened so far. */
async function middleOfTraffic(): Promise<number> {
  const middles = world.chains.map(async ({ client }) => {
    const head = await client.getBlockNumber();
    const { timestamp } = await client.getBlock({ blockNumber: (head * 3n) / 4n });
    return Number(timestamp);
  });
  return Math.min(...(await Promise.all(middles)));
}

/** One round of each job, in an order in which each finds what it needs. */
async function runJobs(): Promise<void> {
  const deps = { file, database, fiatMaxAgeSecs: 900, statusMaxAgeSecs: 600, llamaUrl: 'http://127.0.0.1:1' };
  for (const { run } of captureJobs({ ...deps, logger: createLogger('test', 'silent') })) await run();
}

const rowOf = (chain: WorldChain, name: string): Row => {
  const address = chain.scenario.pools.find((pool) => pool.name === name)?.address;
  const row = rows.find((it) => it.poolAddress === address && it.chain === NAMES[chain.chainId]);
  if (!row) throw new Error(`${name} is not listed`);
  return row;
};

describe('analytics equal what independent code counts in raw logs', () => {
  test.each([0, 1])('of chain %i', async (index) => {
    const chain = world.chains[index];
    if (!chain) throw new Error('no such chain');
    const own = rows.filter((row) => row.chain === NAMES[chain.chainId]);
    expect(own.length).toBe(chain.scenario.pools.length);
    const blocks = await readBlockTimes(chain.client);
    let counted = { inWindow: 0, before: 0 };
    for (const row of own) {
      const logs = await compareWithLogs(chain, row, blocks);
      counted = { inWindow: counted.inWindow + logs.inWindow, before: counted.before + logs.before };
    }
    expect(counted.inWindow).toBeGreaterThan(30);
    expect(counted.before).toBeGreaterThan(30);
  });
});

/** Timestamps of all blocks, by number. */
async function readBlockTimes(client: PublicClient): Promise<number[]> {
  const head = Number(await client.getBlockNumber());
  const blocks = await Promise.all(
    Array.from({ length: head + 1 }, (_, number) => client.getBlock({ blockNumber: BigInt(number) })),
  );
  return blocks.map(({ timestamp }) => Number(timestamp));
}

/** @returns logs of the pool in the window and before it */
async function compareWithLogs({ client }: WorldChain, row: Row, blockTimes: readonly number[]) {
  const shown = row.analytics24h;
  if (!shown) throw new Error('no analytics');
  const address = row.poolAddress as Address;
  const immutables = await client.readContract({ address, abi: flatPoolFunctions, functionName: 'getImmutables' });
  const shape = {
    multipliers: [immutables.token0ScaleMultiplier, immutables.token1ScaleMultiplier] as [bigint, bigint],
  };
  const inWindow = blockTimes.flatMap((time, number) => (time > shown.fromTs && time <= shown.toTs ? [number] : []));
  expect([shown.fromBlock, shown.toBlock]).toEqual([inWindow[0], inWindow.at(-1)]);
  expect(shown.toTs - shown.fromTs).toBe(DAY);
  const logs = await client.getLogs({ address, fromBlock: 0n, toBlock: 'latest' });
  const recent = logs.filter(({ blockNumber }) => inWindow.includes(Number(blockNumber)));
  const count = await countLogs(client, address, shape, recent);
  const week = await countLogs(client, address, shape, logs);
  const liquidity = await lpBalancesRaw(client, address, shape);
  expect(shown).toMatchObject({
    swapTxCount: count.swapTx.size,
    transfers: count.transfers,
    liquidityEventCount: count.adds + count.removes,
    liquidityAddEventCount: count.adds,
    liquidityRemoveEventCount: count.removes,
  });
  for (const side of [0, 1] as const) {
    const token = side === 0 ? shown.token0 : shown.token1;
    expect(token).toMatchObject({
      liquidityRaw: String(liquidity[side]),
      volumeRaw: String(count.volume[side]),
      inflowRaw: String(count.inflow[side]),
      outflowRaw: String(count.outflow[side]),
      netRaw: String(count.inflow[side] - count.outflow[side]),
    });
  }
  expectFiat(row, { count, week, liquidity });
  return { inWindow: recent.length, before: logs.length - recent.length };
}

type Counted = {
  count: Awaited<ReturnType<typeof countLogs>>;
  week: Awaited<ReturnType<typeof countLogs>>;
  liquidity: [bigint, bigint];
};

/** Dollars again, in floating point: shown values are cut to millionths. */
function expectFiat(row: Row, { count, week, liquidity }: Counted): void {
  const shown = row.analytics24h;
  const decimals = [row.token0Decimals, row.token1Decimals];
  const prices = [row.token0FiatPrice, row.token1FiatPrice];
  if (!shown || decimals.includes(undefined)) throw new Error('no decimals');
  const internal = Math.max(18, ...decimals.map(Number));
  const worth = (amounts: readonly bigint[], scale: readonly number[]) => {
    let sum = 0;
    for (const [side, amount] of amounts.entries()) {
      if (amount === 0n) continue;
      const price = prices[side] ?? null;
      if (price === null) return null;
      sum += (Number(amount) / 10 ** (scale[side] ?? 0)) * price;
    }
    return sum;
  };
  const raw = decimals.map(Number);
  const scaled = [internal, internal];
  const tvl = worth(liquidity, raw);
  expectNear(shown.tvlFiat, tvl);
  expect(row.tvlFiat).toBe(shown.tvlFiat);
  expectNear(shown.volumeFiat, worth(count.swapIn, raw));
  expectNear(shown.feesFiat, worth(count.feeScaled, scaled));
  expectNear(shown.token0.netFiat, worth([count.inflow[0] - count.outflow[0], 0n], raw));
  expectNear(shown.token1.inflowFiat, worth([0n, count.inflow[1]], raw));
  expectApr(shown.aprBps, worth(count.lpFeeScaled, scaled), tvl, 1);
  expectApr(row.aprBps7d ?? null, worth(week.lpFeeScaled, scaled), tvl, 7);
}

function expectNear(shown: number | null, expected: number | null): void {
  if (expected === null) expect(shown).toBeNull();
  else expect(Math.abs((shown ?? Number.NaN) - expected)).toBeLessThanOrEqual(2e-6 + Math.abs(expected) * 1e-9);
}

function expectApr(shown: number | bigint | null, fees: number | null, tvl: number | null, days: number): void {
  if (fees === null || !tvl) {
    expect(shown).toBeNull();
    return;
  }
  const exact = (fees * 365 * 10_000) / (days * tvl);
  const slack = exact * 1e-9 + 1e-9;
  expect(Number(shown)).toBeGreaterThanOrEqual(Math.floor(exact - slack));
  expect(Number(shown)).toBeLessThanOrEqual(Math.floor(exact + slack));
}

test('statuses, tiers and details tell the pools of the scenario apart', () => {
  for (const chain of world.chains) {
    const status = (name: string) => rowOf(chain, name).priceProviderStatus;
    expect(status('feed-down')).toBe('feed_down');
    expect(status('crossed-quote')).toBe('pool_refused');
    expect(status('paused')).toBe('pool_paused');
    expect(status('paused-by-protocol')).toBe('pool_paused');
    expect(status('exemplary')).toBe('healthy');
    expect(rowOf(chain, 'paused-by-protocol')).toMatchObject({
      pauseLevel: 2,
      priceProviderDetails: { providerType: 'regular' },
    });
    expect(rowOf(chain, 'immutable-provider')).toMatchObject({
      lockedPricing: true,
      priceProviderCooldownSecs: 18446744073709551615n,
    });
    expect(rowOf(chain, 'immutable-provider').priceProviderDetails).toBeUndefined();
    expect(rowOf(chain, 'pending-provider').priceProviderChange).toMatchObject({
      newPriceProvider: expect.stringMatching(/^0x/),
    });
    expect(rowOf(chain, 'stop-loss-cuts').extensionDetails?.stopLoss).toEqual({
      drawdownE6: '2000',
      decayPerSecondE18: '0',
      timelockSecs: String(2 ** 32 - 1),
      phases: ['afterSwap'],
    });
    expect(rowOf(chain, 'velocity-guard').extensionDetails?.priceVelocity?.maxChangePerBlockE18).toBe(
      String(10n ** 14n),
    );
    expect(rowOf(chain, 'wide-bins').classificationSummary.reasonCodes).toContain('bin_width_exceeded');
    expect(rowOf(chain, 'unvouched-feed').classificationSummary.reasonCodes).toContain('anchored_feed_unmatched');
    expect(rowOf(chain, 'tokenized-stock').classificationSummary).toMatchObject({
      tierQualification: 'red',
      reasonCodes: expect.arrayContaining(['multiplier_token_unscaled']),
    });
  }
});

test('a verified curator makes the exemplary pool green, delisting makes it black', async () => {
  const [chain] = world.chains;
  if (!chain) throw new Error('no chain');
  const before = rowOf(chain, 'exemplary');
  expect(before.classificationSummary.reasonCodes).toEqual(['curator_unverified']);
  await database.query(`INSERT INTO operator.curator VALUES ($1, $2, 'Alice', true)`, [chain.chainId, before.admin]);
  await runJobs();
  const lookUp = () => listing.page(chain.chainId, { addresses: before.poolAddress });
  const [after] = (await lookUp()).data;
  expect(after).toMatchObject({
    adminUsername: 'Alice',
    verifiedAdmin: true,
    classificationSummary: { tierQualification: 'green', reasonCodes: [] },
  });
  await database.query('INSERT INTO operator.delisted_pool VALUES ($1, $2)', [chain.chainId, before.poolAddress]);
  await runJobs();
  expect(await lookUp()).toEqual({ data: [], total: 0, nextOffset: null });
  const delisted = await listing.page(chain.chainId, { blacklistedOnly: true });
  expect(delisted.data).toMatchObject([
    { poolAddress: before.poolAddress, classificationSummary: { tierQualification: 'black' } },
  ]);
});
