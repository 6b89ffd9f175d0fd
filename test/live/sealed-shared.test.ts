import { expect, onTestFinished, test, vi } from 'vitest';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { SealedPools } from '../../quoting/parts/divergence.ts';
import { PartFeed } from '../../quoting/parts/part-feed.ts';
import { SealedChecks } from '../../quoting/parts/sealed-checks.ts';
import { blockOf, POOLS, partOf, snapshotOf, timeOf } from '../../quoting/parts/sealed-pools.fixture.ts';
import { ReadSharing } from '../../quoting/sharing/read-sharing.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { startedWorld } from '../harness/open-world.ts';
import { createRedisDatabase } from '../harness/redis.ts';
import { seedAddress } from '../harness/seed-pools.ts';

/** What one process compares, others and capture learn, with their rights alone. */

const PREFIX = 'pamm';
const chain = { chainId: 8_453, multicall3: seedAddress(99), deployments: [] } as unknown as ChainConfig;
const redis = startedWorld(() => createRedisDatabase(PREFIX));
const logger = createLogger('test', 'silent');
const now = () => performance.now();

function openSharing(redisUrl: string): ReadSharing {
  const sharing = new ReadSharing({ redisUrl, prefix: PREFIX, metrics: createMetrics('test'), logger, now });
  onTestFinished(() => sharing.stop());
  return sharing;
}

function openProcess(id: string) {
  const sealed = new SealedChecks({ isFunded: () => true, logger, now });
  const committed = { announced: undefined };
  const read = () => Promise.reject(new Error('no node'));
  const feed = new PartFeed({ id, multicall3: chain.multicall3, maxAgeMs: 600, committed, read, now });
  openSharing(redis.url).shareParts(chain, { feed, sealed });
  return sealed;
}

test('what one process compares decides in all, and capture counts it', async () => {
  const [one, other] = [openProcess('a'), openProcess('b')];
  const found: SealedPools[] = [];
  openSharing(redis.captureUrl).followSealed(chain, (pools) => found.push(pools));
  let number = 10n;
  await vi.waitFor(() => {
    // Until all listen, messages are missed.
    number += 1n;
    for (const pool of POOLS) one.note(partOf(pool, number, 7n, 'shown'));
    one.noteFees(blockOf(number), 7n);
    for (const pool of POOLS) one.note(snapshotOf(pool, blockOf(number), 'sealed'));
    expect([other.isDivergent, found.length > 0]).toEqual([true, true]);
  }, 10_000);
  const [{ blockNumber = 0n } = {}] = found;
  expect(found[0]).toEqual({ blockNumber, timestamp: timeOf(blockNumber), same: [], different: POOLS });
});
