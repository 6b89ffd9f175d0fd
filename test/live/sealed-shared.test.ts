import type { Address } from 'viem';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { BlockRef } from '../../chain/read-context.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { SealedPools } from '../../quoting/parts/divergence.ts';
import { PartFeed } from '../../quoting/parts/part-feed.ts';
import { SealedChecks } from '../../quoting/parts/sealed-checks.ts';
import {
  blockOf,
  hashOf,
  POOLS,
  partOf,
  shownBy,
  snapshotOf,
  timeOf,
} from '../../quoting/parts/sealed-pools.fixture.ts';
import { ShownAnswers } from '../../quoting/reads/shown-answers.ts';
import { ReadSharing } from '../../quoting/sharing/read-sharing.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMetrics } from '../../runtime/metrics.ts';
import { startedWorld } from '../harness/open-world.ts';
import { createRedisDatabase } from '../harness/redis.ts';
import { seedAddress } from '../harness/seed-pools.ts';

/** What one process compares, others and capture learn, with their rights alone. */

const PREFIX = 'pamm';
const NODE = 'node.test';
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
  const heads: BlockRef[] = [];
  const committed = {
    get announced() {
      const block = heads.at(-1);
      return block && { block: { ...block, parents: [] }, endpoint: null };
    },
  };
  const shownAnswers = new ShownAnswers(now);
  const outcomes: string[] = [];
  const observer = { count: (_: string, outcome: string) => outcomes.push(outcome) };
  const read = () => Promise.reject(new Error('no node'));
  const feed = new PartFeed({ id, multicall3: chain.multicall3, maxAgeMs: 600, committed, read, observer, now });
  openSharing(redis.url).shareParts(chain, { feed, sealed, shownAnswers });
  return { sealed, feed, heads, outcomes, gas: shownAnswers.gas };
}

test('what one process compares decides in all, and capture counts it', async () => {
  const [{ sealed: one }, { sealed: other }] = [openProcess('a'), openProcess('b')];
  const found: SealedPools[] = [];
  openSharing(redis.captureUrl).followSealed(chain, (pools) => found.push(pools));
  let number = 10n;
  await vi.waitFor(() => {
    // Until all listen, messages are missed.
    number += 1n;
    for (const pool of POOLS) one.note(shownBy(NODE, partOf(pool, number, 7n, 'shown')));
    one.noteFees(blockOf(number), 7n);
    for (const pool of POOLS) one.note(snapshotOf(pool, blockOf(number), 'sealed'));
    expect([other.isDivergent(NODE), other.isDivergent('other'), found.length > 0]).toEqual([true, false, true]);
  });
  const [{ blockNumber = 0n } = {}] = found;
  expect(found[0]).toEqual({ blockNumber, timestamp: timeOf(blockNumber), node: NODE, same: [], different: POOLS });
});

test('what one process reads of fees says to others that a node lags', async () => {
  const [{ sealed }, { feed, heads, outcomes }] = [openProcess('a'), openProcess('b')];
  let number = 10n;
  await vi.waitFor(() => {
    // On the head of the last time: what is read of it may be known by now. Until all listen, messages are missed.
    const next = number + 1n;
    feed.note({ blockNumber: next, timestamp: timeOf(next), parentHash: hashOf(number), feesWei: 0n });
    number = next;
    heads.push(blockOf(number));
    sealed.noteFees(blockOf(number), 100n * number);
    expect(outcomes).toContain('lagging');
  });
});

test('a pool that burns gas by the calls of one process is left out by the others', async () => {
  const [{ gas: one }, { gas: other }] = [openProcess('a'), openProcess('b')];
  const sent: Address[] = [];
  await vi.waitFor(() => {
    // Until all listen, messages are missed, and each pool is sent once.
    const pool = seedAddress(sent.length);
    sent.push(pool);
    one.note('shown', pool, 5_000_000, 400_000);
    expect(sent.filter((each) => other.isCostly(each))).not.toEqual([]);
  });
});
