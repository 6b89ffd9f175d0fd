import type { Address, Hex } from 'viem';
import { expect, test } from 'vitest';
import type { BlockRef } from '../../chain/read-context.ts';
import { BlockTooOldError } from '../../quoting/snapshot-error.ts';
import { LaterAnswer } from './json-rpc.ts';
import { StatusResult } from './status-schema.ts';
import { TakerCalls, type TakersChain } from './taker-calls.ts';

const VENUES: readonly Address[] = [`0x${'01'.repeat(20)}`, `0x${'02'.repeat(20)}`];
const REGISTRY: Address = `0x${'03'.repeat(20)}`;
const slot = (index: number): Hex => `0x${index.toString(16).padStart(64, '0')}`;

/** Two venues keep their words in one account, and share a slot. */
const republished = new Map([
  [VENUES[0] as Address, new Map([[REGISTRY, new Map([1, 2].map((index) => [slot(index), slot(9)]))]])],
  [VENUES[1] as Address, new Map([[REGISTRY, new Map([2, 3].map((index) => [slot(index), slot(9)]))]])],
]);
const pending = { blockNumber: 8n, timestamp: 96n, overrides: new Map(), republished, digest: '', receivedAt: 0 };
const block: BlockRef = { number: 7n, hash: slot(7), timestamp: 84n, parents: [] as never, pending } as BlockRef;

/** Answers `pamm_status` on a chain with a head, or one whose head is late. */
async function statusOf(isLate: boolean, current: BlockRef | null = block, isPassed = false) {
  const heads = {
    top: 7n,
    isPassed,
    current: current ? { block: current } : undefined,
    caughtUp: async () => false,
    isTooOld: () => isLate,
    head: async () => {
      if (isLate) throw new BlockTooOldError('late');
      return { block };
    },
  };
  const pamm = { kind: 'bsc', builders: [{ id: 'one' }, { id: 'two' }, { id: 'one' }] };
  const chain = { chainId: 7, blockTimeMs: 12_000, heads, pamm, live: { sources: [] } };
  const takers = { chain, levels: { readers: 5 }, overrides: { readers: 2 }, now: () => 0 };
  const answer = new TakerCalls(takers as unknown as TakersChain, {
    hasKey: false,
    countRead: async () => undefined,
  }).answers();
  const later = await answer('pamm_status', []);
  return StatusResult.parse(later instanceof LaterAnswer ? await later.read() : later);
}

const COUNTS = {
  builders: ['one', 'two'],
  pendingBundles: 0,
  maxQuoteAgeMs: 8_000,
  quoteStreamSubscribers: 2,
  priceLevels: { intervalMs: 250, subscribers: 5, pamms: 0, levels: 0, computedAt: 0, lastComputeMs: 0 },
};

test('counts what is passed on, each slot once', async () => {
  const expected = { ready: true, targetBlock: 8, quotes: 2, liveQuotes: 2, overlaySlots: 3, ...COUNTS };
  expect(await statusOf(false)).toEqual(expected);
});

test('overrides of a block that another process has taken are not passed on', async () => {
  const none = { ready: true, targetBlock: 9, quotes: 0, liveQuotes: 0, overlaySlots: 0 };
  expect(await statusOf(false, block, true)).toEqual({ ...none, ...COUNTS });
});

test('is not ready while heads are late, and has a result', async () => {
  const none = { ready: false, quotes: 0, liveQuotes: 0, overlaySlots: 0, ...COUNTS };
  expect(await statusOf(true)).toEqual({ ...none, targetBlock: 8 });
  expect(await statusOf(true, null)).toEqual({ ...none, targetBlock: 0 });
});
