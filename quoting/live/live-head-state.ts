import type { Address } from 'viem';
import type { ReportedHead } from '../../chain/chain-rpc.ts';
import type { PendingState } from '../../chain/pending-state.ts';
import type { ChainTail } from '../heads/chain-tail.ts';
import type { PendingOverrides } from './sourced-block.ts';

/** The times of a chain with live sources, milliseconds. */
export interface LivePace {
  readonly blockTimeMs: number;
  /** How long overrides are used after their source sent them. */
  readonly maxAgeMs: number;
  /**
   * Shortest time between two states of one committed head. Default: 100 between those that are taken,
   * 250 for listeners.
   */
  readonly spacingMs?: number | undefined;
}

/** What is known of the chain and its sources when something happens. */
export interface LiveInputs {
  /** The committed head to build on. */
  readonly committed: ReportedHead | undefined;
  /** Height of the newest block that was seen. */
  readonly top: bigint;
  readonly overrides: PendingOverrides | undefined;
  /**
   * The accounts whose overrides no source may replace; undefined while they are unknown,
   * then no overrides are used, and without overrides.
   */
  readonly protectedAccounts: ReadonlySet<Address> | undefined;
}

/** A head that was taken. */
interface LiveHead {
  readonly committed: ReportedHead;
  /** The committed head, or the block that is being built on it. */
  readonly head: ReportedHead;
  readonly takenAt: number;
}

/** All times are of one clock that never goes back, milliseconds. */
export interface LiveHeadState {
  readonly taken: LiveHead | undefined;
  readonly branch: ChainTail | undefined;
  /** The highest block that was taken as being built on this branch. */
  readonly highest: bigint;
  /** What listeners have: requests may have had another head since, also one and this again. */
  readonly announced: LiveHead | undefined;
  readonly announcedAt: number;
  readonly watchers: number;
  readonly suspendedUntil: number;
  /** By digest, when sources last sent overrides: at least those that were sent in the last `RENEWED_MS`. */
  readonly receivedAt: ReadonlyMap<string, number>;
  /** When a `time` is needed; null: never. */
  readonly wakeAt: number | null;
}

export const noLiveHead: LiveHeadState = {
  taken: undefined,
  branch: undefined,
  highest: -1n,
  announced: undefined,
  announcedAt: Number.NEGATIVE_INFINITY,
  watchers: 0,
  suspendedUntil: Number.NEGATIVE_INFINITY,
  receivedAt: new Map(),
  wakeAt: null,
};

/** Longer than any read takes that shows how old its overrides are. */
const RENEWED_MS = 30_000;

/** Notes when sources sent these overrides: a head that has them stays the same. */
export function renewed(
  before: LiveHeadState,
  overrides: Pick<PendingState, 'digest' | 'receivedAt'> | undefined,
  now: number,
): LiveHeadState {
  if (!overrides) return before;
  const { digest, receivedAt } = overrides;
  const known = before.receivedAt.get(digest);
  if (known === receivedAt) return before;
  const recent =
    known === undefined ? [...before.receivedAt].filter(([, at]) => now - at < RENEWED_MS) : before.receivedAt;
  return { ...before, receivedAt: new Map(recent).set(digest, receivedAt) };
}

/** When sources last sent the overrides of a block that was taken. */
export const lastReceived = (
  state: Pick<LiveHeadState, 'receivedAt'>,
  { digest, receivedAt }: Pick<PendingState, 'digest' | 'receivedAt'>,
): number => state.receivedAt.get(digest) ?? receivedAt;
