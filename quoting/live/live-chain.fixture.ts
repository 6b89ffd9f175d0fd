import { numberToHex } from 'viem';
import { vi } from 'vitest';
import type { ReportedHead } from '../../chain/chain-rpc.ts';
import type { BlockHeader } from '../../chain/read-context.ts';
import { HeadTracker } from '../heads/head-tracker.ts';
import type { Frame } from './frame.ts';
import { FrameMerger } from './frame-merger.fixture.ts';
import { LiveHeads } from './live-heads.ts';

const BLOCK_MS = 2_000;
export const MAX_AGE_MS = 1_300;
export const ACCOUNT = `0x${'0a'.repeat(20)}` as const;
const TOKEN = `0x${'0b'.repeat(20)}` as const;
const VENUE = `0x${'0c'.repeat(20)}` as const;
export const word = (value: number) => numberToHex(value, { size: 32 });

const header = (number: number, fork: number): BlockHeader => ({
  number: BigInt(number),
  hash: word(1_000 * fork + number),
  parents: [word(1_000 * fork + number - 1)],
  timestamp: BigInt(number * 2),
});

/** A chain whose node pushes heads, and one source of pending state. Time is that of fake timers. */
export function liveChain() {
  vi.useFakeTimers();
  const now = () => vi.getMockedSystemTime()?.getTime() ?? 0;
  vi.setSystemTime(1_000_000);
  const known = new Map<string, BlockHeader>();
  const chain = { head: header(1, 0), fork: 0 };
  const tracker = new HeadTracker<ReportedHead>(
    {
      head: async () => ({ block: chain.head, endpoint: null }),
      otherHeads: async () => [],
      header: async (hash) => known.get(hash) ?? Promise.reject(new Error('unknown')),
    },
    { blockTimeMs: BLOCK_MS, minRefreshMs: 1, now, wallClock: () => 0 },
  );
  const merger = new FrameMerger(MAX_AGE_MS, now);
  const listeners = new Set<() => void>();
  const suspensions: unknown[] = [];
  const lookUps = { count: 0 };
  const live = { maxAgeMs: MAX_AGE_MS, sources: [{ kind: 'own' as const }] };
  const heads = new LiveHeads(
    { chainId: 1, blockTimeMs: BLOCK_MS, live },
    {
      committed: tracker,
      feed: {
        state: () => merger.state(tracker.top),
        onFrame: (listener) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
      protectedAccounts: () => {
        lookUps.count += 1;
        return new Set([TOKEN]);
      },
      observer: {
        count: () => undefined,
        skipped: () => undefined,
        suspended: () => suspensions.push('counted'),
        sealed: () => undefined,
      },
      logger: { warn: (fields: object) => suspensions.push(fields) },
      now,
    },
  );
  const push = async (number: number, fork: number) => {
    chain.head = header(number, fork);
    known.set(chain.head.hash, chain.head);
    tracker.push({ block: chain.head, endpoint: null });
    await vi.advanceTimersByTimeAsync(2);
  };
  const take = (blockNumber: number, venues: Frame['venues']) => {
    merger.take(
      { id: 'source' },
      { blockNumber: BigInt(blockNumber), timestamp: null, venues, isComplete: false },
      tracker.top,
    );
    for (const listener of listeners) listener();
  };
  const frame = (blockNumber: number, value: number) => {
    const slots = new Map([[word(1), word(value)]]);
    take(blockNumber, new Map([[VENUE, new Map([ACCOUNT, TOKEN].map((account) => [account, slots]))]]));
  };
  const cancel = (blockNumber: number) => take(blockNumber, new Map([[VENUE, new Map()]]));
  return { now, chain, tracker, heads, merger, push, frame, cancel, suspensions, lookUps };
}
