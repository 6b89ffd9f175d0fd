import { Registry } from 'prom-client';
import { beforeEach, describe, expect, test } from 'vitest';
import { DeploymentConfig } from '../../config/chains-schema.ts';
import type { BlockPoint } from '../../db/indexed-blocks.ts';
import { pass, stopTime } from '../../test/harness/stopped-time.ts';
import { IndexingWatch } from './indexing-watch.ts';
import { registerIndexingMetrics } from './operations.ts';

const CHAIN = { chainId: 7, name: 'seven', blockTimeMs: 1_000, deployments: [] };
const LIMIT_SECS = 30;
/** Block `number` of a chain with a block every second. */
const block = (number: number): BlockPoint => ({ number, timestamp: 1_790_000_000 + number });

/** As a node gives it. */
const headOf = ({ number, timestamp }: BlockPoint) => ({ number: BigInt(number), timestamp: BigInt(timestamp) });

/** What the database and the node say, and what time it is. */
let indexed: BlockPoint | null;
let head: BlockPoint | null;
let isDatabaseUp: boolean;
let nowMs: number;
/** The head that needs no asking, and how often the node was asked. */
let known: BlockPoint | undefined;
let polls: number;
let watch: IndexingWatch;

const heads = {
  get announced() {
    return known && { block: headOf(known) };
  },
  head: async () => {
    polls += 1;
    if (head) return { block: headOf(head) };
    throw new Error('the node is unreachable');
  },
};

beforeEach(() => {
  nowMs = 0;
  known = undefined;
  polls = 0;
  isDatabaseUp = true;
  indexed = null;
  head = null;
  watch = new IndexingWatch({
    chains: [{ ...CHAIN, heads }],
    maxLagSecs: LIMIT_SECS,
    maxQuoteAgeMs: () => 60_000,
    readIndexed: async () => {
      if (!isDatabaseUp) throw new Error('the database is unreachable');
      return new Map(indexed === null ? [] : [[CHAIN.chainId, indexed]]);
    },
    readFirstSyncs: async () => {
      if (!isDatabaseUp) throw new Error('the database is unreachable');
      return new Map();
    },
    wallClock: () => nowMs,
  });
});

async function pollAfter(secs: number, now: { indexed: BlockPoint | null; head: BlockPoint | null }) {
  nowMs += secs * 1000;
  ({ indexed, head } = now);
  await watch.poll();
  return watch.check();
}

test('who asks before the first poll gets its answer', async () => {
  ({ indexed, head } = { indexed: block(1), head: block(1) });
  expect(await watch.check()).toBeNull();
  expect(polls).toBe(1);
});

describe('an index that follows its chain is ready', () => {
  test('block by block, one behind at each look', async () => {
    for (let n = 1; n <= 200; n++) expect(await pollAfter(1, { indexed: block(n), head: block(n + 1) })).toBeNull();
    expect(watch.lags()).toEqual([
      {
        chainId: 7,
        name: 'seven',
        indexedBlock: 200,
        indexedTimestamp: block(200).timestamp,
        headBlock: 201,
        lagBlocks: 1,
        lagSecs: 1,
        stalled: false,
        finalityBlocks: 30,
        finalitySecs: 30,
        firstSync: null,
      },
    ]);
  });

  test('however long the chain is silent, and when it speaks again', async () => {
    for (let n = 0; n < 100; n++) await pollAfter(60, { indexed: block(5), head: block(5) });
    expect(await watch.check()).toBeNull();
    expect(await pollAfter(1, { indexed: block(5), head: { number: 6, timestamp: block(5).timestamp + 6_000 } })).toBe(
      null,
    );
    expect(watch.lags()).toMatchObject([{ lagBlocks: 1, lagSecs: 6_000, stalled: false }]);
  });

  test('through a reorganisation that it undoes', async () => {
    await pollAfter(1, { indexed: block(100), head: block(100) });
    await pollAfter(20, { indexed: block(100), head: block(92) });
    expect(await pollAfter(15, { indexed: block(92), head: block(93) })).toBeNull();
  });
});

describe('an index that does not is stalled after the limit', () => {
  test('when it stops while the chain advances, even by one block only', async () => {
    await pollAfter(1, { indexed: block(9), head: block(9) });
    expect(await pollAfter(LIMIT_SECS, { indexed: block(9), head: block(10) })).toBeNull();
    expect(await pollAfter(1, { indexed: block(9), head: block(10) })).toBe(
      'chain 7 is indexed 1 blocks behind its head',
    );
    expect(await pollAfter(1, { indexed: block(10), head: block(10) })).toBeNull();
  });

  test('when the chain was rolled back beyond what it can undo, until the chain has outgrown it and after', async () => {
    await pollAfter(1, { indexed: block(100), head: block(100) });
    const reasons = [];
    for (let n = 60; n <= 140; n++) reasons.push(await pollAfter(1, { indexed: block(100), head: block(n) }));
    expect(reasons.slice(0, LIMIT_SECS)).toEqual(reasons.slice(0, LIMIT_SECS).map(() => null));
    expect(reasons[LIMIT_SECS]).toBe('chain 7 is indexed 10 blocks beyond its head');
    expect(reasons.at(-1)).toBe('chain 7 is indexed 40 blocks behind its head');
    // At the height of the index the two may have been equal for a short time.
    expect(reasons.slice(LIMIT_SECS).filter((reason) => reason === null).length).toBeLessThanOrEqual(LIMIT_SECS + 1);
  });

  test('when it holds a block of another history at the height of the head', async () => {
    await pollAfter(1, { indexed: block(100), head: block(100) });
    const replaced = { ...block(100), timestamp: block(100).timestamp + 3 };
    expect(await pollAfter(LIMIT_SECS + 1, { indexed: block(100), head: replaced })).not.toBeNull();
  });

  test('when it moves but falls behind', async () => {
    await pollAfter(1, { indexed: block(0), head: block(0) });
    let reason: string | null = null;
    for (let n = 1; n <= 120; n++) reason = await pollAfter(1, { indexed: block(n), head: block(2 * n) });
    expect(reason).toBe('chain 7 is indexed 120 blocks behind its head');
  });

  test('at once when nodes stand still for longer than quotes may be old', async () => {
    await pollAfter(1, { indexed: block(9), head: block(9) });
    known = block(9);
    expect(await pollAfter(25, { indexed: block(34), head: null })).toBeNull();
    expect(await pollAfter(20, { indexed: block(54), head: null })).toBeNull();
    expect(await pollAfter(9, { indexed: block(70), head: null })).toBe('chain 7 is indexed 61 blocks beyond its head');
    known = block(71);
    expect(await pollAfter(1, { indexed: block(71), head: null })).toBeNull();
  });

  test('when no node answers, or the database is unreachable', async () => {
    await pollAfter(1, { indexed: block(9), head: block(9) });
    expect(await pollAfter(LIMIT_SECS + 1, { indexed: block(9), head: null })).toBe(
      'chain 7: no node reports its head',
    );
    expect(await pollAfter(1, { indexed: block(9), head: block(9) })).toBeNull();
    isDatabaseUp = false;
    expect(await pollAfter(LIMIT_SECS + 1, { indexed: null, head: block(40) })).toBe(
      'chain 7: the database does not say what is indexed',
    );
  });
});

test('nothing is ready before it was seen to follow', async () => {
  const reason = 'chain 7 is not indexed: the served index lacks it, until a backfill is complete';
  expect(await watch.check()).toBe(reason);
  expect(await pollAfter(0, { indexed: null, head: block(3) })).toBe(reason);
  expect(await pollAfter(0, { indexed: block(3), head: block(3) })).toBeNull();
});

test('the first index shows how far it has come until it serves', async () => {
  const deployments = DeploymentConfig.array().parse(
    [
      [900, false],
      [1_000, true],
      [1_200, true],
    ].map(([fromBlock, enabled]) => ({
      contractVersion: 'v1',
      layout: 'flat',
      poolFactory: `0x${'1'.repeat(40)}`,
      fromBlock,
      enabled,
    })),
  );
  let isServed = false;
  let hasBegun = true;
  let blockNumber: number | null = null;
  const first = new IndexingWatch({
    chains: [{ ...CHAIN, deployments, heads }],
    maxLagSecs: LIMIT_SECS,
    maxQuoteAgeMs: () => 60_000,
    readIndexed: async () => {
      if (!isServed) throw new Error('no index');
      return new Map([[7, block(2_000)]]);
    },
    readFirstSyncs: async () => new Map(hasBegun ? [[7, { chainId: 7, blockNumber, logs: 12 }]] : []),
    wallClock: Date.now,
  });
  const shown = async () => {
    await first.poll();
    return first.lags()[0]?.firstSync;
  };
  head = block(3_000);
  hasBegun = false;
  expect(await shown()).toBeNull();
  expect(await first.check()).toBe('chain 7 is not indexed: no indexer has begun the first sync');
  hasBegun = true;
  expect(await shown()).toEqual({ fromBlock: 1_000, blockNumber: null, logs: 12 });
  expect(await first.check()).toBe('chain 7 is not indexed: the first sync fetches logs, 12 so far');
  blockNumber = 1_500;
  expect(await shown()).toEqual({ fromBlock: 1_000, blockNumber: 1_500, logs: 12 });
  expect(await first.check()).toBe('chain 7 is not indexed: the first sync is at block 1500, from 1000 to 3000');
  isServed = true;
  expect(await shown()).toBeNull();
});

test('the first index of an added chain shows how far it has come, beside chains that are served', async () => {
  const deployments = DeploymentConfig.array().parse([
    { contractVersion: 'v1', layout: 'flat', poolFactory: `0x${'1'.repeat(40)}`, fromBlock: 10 },
  ]);
  const progress = (chainId: number) => [chainId, { chainId, blockNumber: 20, logs: 12 }] as const;
  const two = new IndexingWatch({
    chains: [7, 8].map((chainId) => ({ ...CHAIN, chainId, deployments, heads })),
    maxLagSecs: LIMIT_SECS,
    maxQuoteAgeMs: () => 60_000,
    readIndexed: async () => new Map([[7, block(2_000)]]),
    readFirstSyncs: async () => new Map([progress(7), progress(8)]),
    wallClock: Date.now,
  });
  await two.poll();
  expect(two.lags().map(({ firstSync }) => firstSync)).toEqual([null, { fromBlock: 10, blockNumber: 20, logs: 12 }]);
  expect(await two.check()).toContain('chain 8 is not indexed: the first sync is at block 20, from 10 to ');
});

test('a node that does not respond delays polls of other chains by no more than its timeout', async () => {
  stopTime();
  const two = new IndexingWatch({
    chains: [
      { ...CHAIN, heads: { announced: undefined, head: () => new Promise(() => undefined) } },
      { ...CHAIN, chainId: 8, heads: { announced: undefined, head: async () => ({ block: headOf(block(1)) }) } },
    ],
    maxLagSecs: LIMIT_SECS,
    maxQuoteAgeMs: () => 60_000,
    readIndexed: async () => new Map([7, 8].map((chainId) => [chainId, block(1)])),
    readFirstSyncs: async () => new Map(),
    wallClock: Date.now,
  });
  const polled = two.poll();
  await pass(1_500);
  await polled;
  expect(two.lags().map(({ headBlock, stalled }) => [headBlock, stalled])).toEqual([
    [null, true],
    [1, false],
  ]);
});

describe('the node is asked', () => {
  const timeOf = (number: number) => block(number).timestamp * 1_000;

  test('only once the newest block of the index is older than it should be, and shows then that the index stands still', async () => {
    nowMs = timeOf(1);
    for (let n = 2; n <= 50; n++) expect(await pollAfter(1, { indexed: block(n - 1), head: block(n) })).toBeNull();
    expect([polls, watch.lags()[0]?.headBlock]).toEqual([0, 49]);
    for (let n = 51; n <= 52; n++) await pollAfter(1, { indexed: block(49), head: block(n) });
    expect(polls).toBe(0);
    for (let n = 53; n <= 79; n++) expect(await pollAfter(1, { indexed: block(49), head: block(n) })).toBeNull();
    expect([polls, watch.lags()[0]?.lagBlocks]).toEqual([27, 30]);
    for (let n = 80; n <= 83; n++) await pollAfter(1, { indexed: block(49), head: block(n) });
    expect(await watch.check()).toBe('chain 7 is indexed 34 blocks behind its head');
  });

  test('not while its head is known, which counts before the age of the index', async () => {
    nowMs = timeOf(10);
    known = block(10);
    expect(await pollAfter(0, { indexed: block(8), head: null })).toBeNull();
    expect([polls, watch.lags()[0]?.lagBlocks]).toEqual([0, 2]);
  });
});

test('the gauges show what is known, and nothing that is not', async () => {
  const registry = new Registry();
  registerIndexingMetrics(registry, () => watch.lags());
  await pollAfter(1, { indexed: block(10), head: block(14) });
  expect(await registry.metrics()).toContain('indexing_lag_blocks{chain="7"} 4');
  await pollAfter(1, { indexed: block(10), head: null });
  const scraped = await registry.metrics();
  expect(scraped).toContain('indexing_block{chain="7"} 10');
  expect(scraped).toContain('indexing_stalled{chain="7"} 0');
  expect(scraped).not.toMatch(/indexing_(lag_blocks|lag_seconds|head_block)\{/);
});
