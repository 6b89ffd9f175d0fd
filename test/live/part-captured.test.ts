import { expect, onTestFinished, test, vi } from 'vitest';
import { captureJobs } from '../../capture/capture-jobs.ts';
import { indexedQuotes } from '../../capture/indexed-quotes.fixture.ts';
import { ChainsFile } from '../../config/chains-schema.ts';
import { priceAround } from '../../devnet/live/live-market.fixture.ts';
import { feedWords } from '../../devnet/live/registry.ts';
import { ReadSharing } from '../../quoting/sharing/read-sharing.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { openWorld, startedWorld } from '../harness/open-world.ts';
import { createRedisDatabase } from '../harness/redis.ts';
import { fixedDirectory } from '../quotes/served-pool.ts';
import { type StreamApi, startStreamApi } from '../stream/stream-api.ts';
import { batchesOf } from './live-world.ts';
import { quotesOf } from './part-quotes.ts';
import { startPartWorld } from './part-world.ts';

/** What the API finds of nodes whose parts are not what is sealed holds for capture, which follows no parts itself. */

const PREFIX = 'pamm';
const logger = createLogger('test', 'silent');

const redis = startedWorld(() => createRedisDatabase(PREFIX));
const world = openWorld(async (ends) => {
  const node = { form: 'payload', partsPerBlock: 2 } as const;
  const started = await startPartWorld({ flatPools: 10, packedPools: 0, guards: ['none'], node });
  ends.defer(started.stop);
  return { ...started, chain: started.market.chain, deployment: started.market.deployment };
});
const { own, index } = indexedQuotes(world, {
  rpcUrl: () => world.node.url,
  pairs: async () => {
    const { token0, token1 } = world.market;
    return [{ token0, token1, decimals0: 18, decimals1: 18 }] as const;
  },
  change: () => ({ live: world.config.live, wsUrls: world.config.wsUrls, blockTimeMs: 2_000 }),
});
const chains = openWorld(async () => {
  for (const pool of world.market.pools) await index(pool, own.pairs[0]);
  return ChainsFile.parse({ chains: [{ ...own.config, readBudget: { callsPerMinute: 10_000 } }] });
});

const every = <T>(value: T): T[] => world.market.pools.map(() => value);

/** Capture, which hears of the API by its own user of Redis. */
function openCapture() {
  const now = () => performance.now();
  const metrics = createMetrics('test');
  const sharing = new ReadSharing({ redisUrl: redis.captureUrl, prefix: PREFIX, metrics, logger, now });
  onTestFinished(() => sharing.stop());
  const jobs = captureJobs({
    file: chains,
    database: own.database,
    fiatMaxAgeSecs: 900,
    statusMaxAgeSecs: 600,
    llamaUrl: 'http://127.0.0.1:1',
    sharing,
    logger,
  });
  return {
    /** Whether each pool trades after the newest part, as capture reads it now. */
    async sampleLive(): Promise<(boolean | null)[]> {
      for (const { name, run } of jobs) if (name.startsWith('price-health')) await run();
      const { rows } = await own.database.query<{ live: boolean | null }>(
        'SELECT trades_live AS live FROM operator.price_health',
      );
      return rows.map(({ live }) => live);
    },
  };
}

async function openApi(): Promise<StreamApi> {
  const [chain] = chains.chains as [ChainsFile['chains'][number]];
  const sharedBy = { redisUrl: redis.url, prefix: PREFIX };
  const api = await startStreamApi({ chain, directory: fixedDirectory(world.served), sharedBy });
  onTestFinished(() => api.stop());
  return api;
}

/** Shows a part in which all pools have other prices than its node says. */
function showLie(hundredths: bigint) {
  const { node, market } = world;
  const { timeSecs } = node.part();
  const words = market.pools.map(({ feedId }) => feedWords(feedId, timeSecs, priceAround(hundredths + 20n)));
  node.trap({ kind: 'divergent', overrides: { [market.registry]: { stateDiff: Object.assign({}, ...words) } } });
  return world.price(hundredths);
}

/** Seals the block of the newest part, and waits until committed quotes are those of it. */
async function seal(api: StreamApi): Promise<void> {
  const { number } = world.node.part();
  while (world.node.part().number === number) await world.node.nextPart();
  await vi.waitFor(async () => {
    const all = await quotesOf(world, { basis: 'committed' }, batchesOf(api));
    expect(all.map(({ priceProviderStatus }) => priceProviderStatus)).toEqual(every('healthy'));
  });
}

test('while the API leaves out the parts of a node, capture says of no pool whether it trades after them', async () => {
  const [api, capture] = [await openApi(), openCapture()];
  await world.price(200n);
  await vi.waitFor(async () => expect(await capture.sampleLive()).toEqual(every(true)));
  await seal(api);
  const isLeftOut = () => api.chain.liveWarning()?.includes('(divergent)') === true;
  for (let block = 0n; !isLeftOut(); block += 1n) {
    const target = { kind: 'live', targetBlockNumber: Number((await showLie(201n + block)).number) };
    // Pools of the block before may be compared only now.
    await vi.waitFor(async () => {
      const all = await quotesOf(world, {}, batchesOf(api));
      if (!isLeftOut()) expect(all.map(({ basis }) => basis)).toMatchObject(every(target));
    });
    await seal(api);
  }
  await vi.waitFor(async () => expect(await capture.sampleLive()).toEqual(every(null)));
});
