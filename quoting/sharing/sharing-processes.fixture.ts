import { type Address, numberToHex } from 'viem';
import { vi } from 'vitest';
import type { LiveSourceConfig } from '../../config/live-schema.ts';
import { createLogger } from '../../runtime/logger.ts';
import type { Frame } from '../live/frame.ts';
import { LiveFeed } from '../live/live-feed.ts';
import type { PendingOverrides } from '../live/sourced-block.ts';
import { LEASE_MS, RENEW_MS } from './feed-schedule.ts';
import { SharedFeed } from './shared-feed.ts';

/* Processes that share the sources of a chain, over a bus and a lease that are those of Redis but for its failures. */

export const MAX_AGE_MS = 8_000;
export const SOURCES: readonly LiveSourceConfig[] = [
  { kind: 'builder-overrides', wsUrls: ['ws://a'], rpcUrls: [] },
  { kind: 'relayer', wsUrls: ['ws://b'], rpcUrls: [] },
];
const venueOf = (number: number): Address => `0x${'e7'.repeat(19)}${number.toString(16).padStart(2, '0')}`;
const hexOf = (value: number) => numberToHex(value, { size: 32 });

/** Of each venue, its word at a slot that all share, and at one of its own. */
export const frameOf = (
  blockNumber: number,
  venues: Readonly<Record<number, number | null>>,
  isComplete = false,
): Frame => ({
  blockNumber: BigInt(blockNumber),
  timestamp: null,
  isComplete,
  venues: new Map(
    Object.entries(venues).map(([number, value]) => {
      const slots = [0, 1 + Number(number)].map((slot) => [hexOf(slot), hexOf(value ?? 0)] as const);
      return [venueOf(Number(number)), new Map(value === null ? [] : [[venueOf(0), new Map(slots)]])];
    }),
  ),
});

export const now = () => Date.now();

interface Process {
  readonly feed: LiveFeed;
  readonly shared: SharedFeed;
  /** What gives it a frame of each source, while it reads them. */
  readonly open: Map<LiveSourceConfig, (frame: Frame) => boolean>;
}

/** Starts and stops processes, which share a bus and a lease. Time is that of fake timers. */
export function startRedis() {
  const lease = { holder: '', until: 0 };
  let starts = 0;
  const processes = new Set<Process>();
  const sent: string[] = [];
  const findReader = async (id: string) => {
    if (now() >= lease.until) lease.holder = id;
    if (lease.holder !== id) return 'other';
    lease.until = now() + LEASE_MS;
    return 'own';
  };
  const start = (): Process => {
    const open: Process['open'] = new Map();
    const feed = new LiveFeed(
      { chainId: 1, blockTimeMs: 12_000, live: { maxAgeMs: MAX_AGE_MS, sources: [...SOURCES] } },
      {
        top: () => undefined,
        env: {},
        logger: createLogger('test', 'silent'),
        openSource: (config, onFrame) => {
          open.set(config, onFrame);
          return { close: () => open.delete(config) };
        },
        now,
        wallClock: now,
      },
    );
    const publish = (text: string) => {
      sent.push(text);
      for (const { shared } of processes) if (shared !== process.shared) shared.take(text);
    };
    starts += 1;
    const name = String(starts);
    const process: Process = {
      feed,
      open,
      shared: new SharedFeed({ feed, findReader: () => findReader(name), publish }),
    };
    processes.add(process);
    return process;
  };
  const stop = (process: Process): void => {
    processes.delete(process);
    process.feed.close();
  };
  /** Lets time pass in which processes do what is due. */
  const wait = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= RENEW_MS) {
      await vi.advanceTimersByTimeAsync(Math.min(left, RENEW_MS));
      for (const { shared } of processes) await shared.tick();
    }
  };
  /** A source sends a frame to who reads it. @returns whether anyone does */
  const send = (source: number, frame: Frame): boolean => {
    const readers = [...processes].flatMap(({ open }) => open.get(SOURCES[source] as LiveSourceConfig) ?? []);
    for (const give of readers) give(frame);
    return readers.length > 0;
  };
  return { processes, sent, start, stop, wait, send };
}

/** Slot by slot, the words of the venues. */
export const wordsOf = (state: PendingOverrides | undefined): object | undefined =>
  state &&
  Object.fromEntries([...(state.overrides.get(venueOf(0)) ?? [])].map(([slot, word]) => [Number(slot), Number(word)]));
