import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import type { Address } from 'viem';
import { afterEach, expect, test } from 'vitest';
import { bindRoutes } from '../../api/declaration/api-route.ts';
import { DaysPage } from '../../api/history/days-declaration.ts';
import { historyResource } from '../../api/history/history.ts';
import { sellAndBuyPrices } from '../../devnet/actions.ts';
import { quoteAt } from '../../devnet/live/live-calls.fixture.ts';
import { decodeBuilderFrame, mergedWords, requestForm } from '../../devnet/live/live-forms.fixture.ts';
import { priceAround } from '../../devnet/live/live-market.fixture.ts';
import { type LivePool, ONE } from '../../devnet/live/live-pools.ts';
import { type Random, seededRandom } from '../../devnet/traffic/random.ts';
import { NO_ACTIVITY } from '../../indexer/reducers/activity.ts';
import { mountHandlers } from '../harness/mount-handlers.ts';
import { ONCHAIN_SCHEMA } from '../harness/onchain-tables.ts';
import { fixedDirectory } from '../quotes/served-pool.ts';
import { type CapturedWorld, startCapturedWorld } from './captured-world.ts';
import { waitForUpdates } from './live-world.ts';

/*
 * The shares of blocks in which pools could be traded with are those that calls of the chain give, block by block, with
 * blocks in which updates land and in which they do not.
 */

const ROUNDS = 12;
/** Of slots of 12 seconds: each round is the one sample of its minute. */
const BLOCKS_PER_MINUTE = 5;
const DAY = 86_400;
const SALE = { zeroForOne: true, amountSpecified: ONE };
const PRICE = priceAround(200n);
const FRAMES_MS = 1_000;

/** What calls say of a pool on one block. */
interface Sample {
  readonly pool: Address;
  readonly blockTs: number;
  readonly isCommitted: boolean;
  readonly isLive: boolean;
}

let world: CapturedWorld | undefined;

afterEach(() => world?.stop());

const subset = (pools: readonly LivePool[], random: Random, percent: number) =>
  pools.filter(() => random.chance(percent));

/** Builds a minute of blocks, whose last one has updates or not, and submits updates for the next one. */
async function passMinute({ market, ...rest }: CapturedWorld, random: Random): Promise<void> {
  const { builder, pools } = market;
  for (let count = 1; count < BLOCKS_PER_MINUTE; count++) await builder.buildBlock();
  builder.setLanding(random.chance(70) ? 'with-trade' : 'never');
  const quoted = subset(pools, random, 70);
  for (const pool of quoted) await market.update(pool, PRICE);
  await builder.buildBlock({ trades: subset(quoted, random, 70).map((pool) => market.trade(pool, SALE)) });
  const updates = [];
  for (const pool of subset(pools, random, 60)) updates.push(await market.update(pool, PRICE));
  if (updates.length > 0) await waitForUpdates({ market, ...rest }, updates);
}

async function sampleByCalls({ market: { chain, pools, builder } }: CapturedWorld): Promise<Sample[]> {
  const { timestamp } = await chain.client.getBlock();
  const frame = decodeBuilderFrame(await requestForm(builder.builderRpcUrl, 'titan_getPammStateOverrides'));
  const [words, block] = [mergedWords(frame), builder.block()];
  return Promise.all(
    pools.map(async (pool) => ({
      pool: pool.address,
      blockTs: Number(timestamp),
      isCommitted: !('refusal' in (await sellAndBuyPrices(chain, pool.address))),
      isLive: typeof (await quoteAt(chain, pool, SALE, { words, block })) !== 'string',
    })),
  );
}

/** Says that pools had an event in these blocks: only days with one are listed. */
async function logActivity({ database, config }: CapturedWorld, samples: readonly Sample[]): Promise<void> {
  for (const { pool, blockTs } of samples) {
    const row = [config.chainId, pool, blockTs, NO_ACTIVITY];
    const insert = `INSERT INTO ${ONCHAIN_SCHEMA}.pool_activity (chain_id, pool, block_timestamp, block_number, totals)`;
    await database.query(`${insert} VALUES ($1, $2, $3, 1, $4) ON CONFLICT DO NOTHING`, row);
  }
}

async function storedSamples({ database }: CapturedWorld): Promise<Set<string>> {
  const { rows } = await database.query<Record<'pool' | 'at' | 'status' | 'basis', string>>(
    'SELECT pool, block_timestamp AS at, status, basis FROM read_model.quote_sample WHERE NOT is_change',
  );
  return new Set(rows.map(({ pool, at, status, basis }) => [pool, at, status, basis].join(' ')));
}

function daysApi({ served, file, database }: CapturedWorld): Hono {
  const app = new Hono();
  const chains = new Map(file.chains.map((each) => [each.chainId, each]));
  mountHandlers(
    app,
    bindRoutes(historyResource, { chains, directory: fixedDirectory(served), database, wallClock: Date.now }),
  );
  return app;
}

test.each([
  ['with a source', true],
  ['without a source', false],
])('%s', async (_name, hasSource) => {
  world = await startCapturedWorld({ flatPools: 3, packedPools: 1 }, ({ config }) =>
    hasSource ? (config.live ?? null) : null,
  );
  const { capture, listing, config, market } = world;
  const random = seededRandom(7);
  const samples: Sample[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await passMinute(world, random);
    // biome-ignore lint/plugin: the pace of a builder that sends a frame in 100 ms: capture takes several
    if (hasSource) await sleep(FRAMES_MS);
    samples.push(...(await sampleByCalls(world)));
    await capture();
  }
  await logActivity(world, samples);
  const share = (of: readonly Sample[], is: 'isCommitted' | 'isLive') =>
    expect.closeTo(of.filter((sample) => sample[is]).length / of.length, 9);
  const sharesOf = (of: readonly Sample[]) => ({
    committedShare: share(of, 'isCommitted'),
    liveShare: hasSource ? share(of, 'isLive') : null,
    ownLandedShare: null,
    sealedShare: null,
  });
  // Both kinds of blocks were there.
  for (const is of ['isCommitted', 'isLive'] as const) {
    expect(new Set(samples.map((sample) => sample[is])), is).toEqual(new Set([true, false]));
  }
  // What was sampled of a block without a price of its own is the live price.
  const isDown = ({ isCommitted, isLive }: Sample) => !isCommitted && !(hasSource && isLive);
  expect(await storedSamples(world)).toEqual(
    new Set(
      samples.map((sample) => {
        const basis = sample.isCommitted || isDown(sample) ? 'committed' : 'live';
        return [sample.pool, sample.blockTs, isDown(sample) ? 'feed_down' : 'healthy', basis].join(' ');
      }),
    ),
  );
  await capture();
  const { data } = await listing.page(config.chainId, { count: 500, minTvlFiat: 0, include24h: true });
  const app = daysApi(world);
  for (const { address } of market.pools) {
    const own = samples.filter(({ pool }) => pool === address);
    const row = data.find(({ poolAddress }) => poolAddress === address);
    expect(row?.executability, address).toEqual(sharesOf(own));
    const response = await app.request(`/public/v1/evm/${config.chainId}/${address}/days`);
    const days = DaysPage.parse(await response.json()).data;
    const byDay = Map.groupBy(own, ({ blockTs }) => blockTs - (blockTs % DAY));
    expect(Object.fromEntries(days.map(({ dayTs, executability }) => [dayTs, executability]))).toEqual(
      Object.fromEntries([...byDay].map(([day, ofDay]) => [day, sharesOf(ofDay)])),
    );
  }
});
