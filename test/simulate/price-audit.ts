import { liveMaxAgeMs } from '../../config/live-schema.ts';
import type { Faults } from './faults.ts';
import type { Findings } from './findings.ts';
import { ENOUGH_CALLS } from './plan.ts';
import { FIRST_LIVE_PRICE } from './virtual-chain.ts';
import { PUSH_MS, type World } from './world.ts';

/** When nothing goes wrong, a change reaches all readers within this time. */
export const REACH_MS = 1_500;
/** A reader notices a dead connection after this silence, before its first message later. */
export const SILENCE_MS = 6_000;
const FIRST_SILENCE_MS = 20_000;
/** Longest run of reads, and longest delay of a message. */
const RUN_MS = 3_000;
const LATE_MS = 2_000;
/** Those that concern one source alone. */
const FAULTS_OF_SOURCES = ['lie', 'silence', 'leap'] as const;
/** A source that said a price within this time says it still. */
export const SAID_MS = 600;

/**
 * With few calls, each pool still has a quote within this time, or that of two rounds: a class has a call a second, and
 * a pool without a live price costs two.
 */
const TURN_MS = 15_000;
const TURNS_MS_PER_POOL = 2 * 2_000;
/** How long it takes until the round begins and is read. */
const ROUND_MS = 3_000;

/** Finds live prices that readers hold though no source sent them, or long after their end. */
export class PriceAudit {
  readonly #world: World;
  readonly #faults: Faults;
  readonly #findings: Findings;

  constructor(world: World, faults: Faults, findings: Findings) {
    this.#world = world;
    this.#faults = faults;
    this.#findings = findings;
  }

  /** Whether scheduled reads have calls for all pools. */
  get hasEnoughCalls(): boolean {
    return this.#world.plan.callsPerMinute >= ENOUGH_CALLS;
  }

  /** Within this time each pool has its turn: 0 where all are read at once. */
  get turnMs(): number {
    return this.hasEnoughCalls ? 0 : Math.max(TURN_MS, TURNS_MS_PER_POOL * this.#world.plan.pools + ROUND_MS);
  }

  /** @param extraMs how much longer than usual it may take until the reader knows */
  check(name: string, pool: number, price: bigint, extraMs: number): void {
    if (price < FIRST_LIVE_PRICE) return;
    const [findings, world, faults] = [this.#findings, this.#world, this.#faults];
    const now = world.time.now;
    findings.counts.live += 1;
    const claim = world.truth.find(price);
    if (claim?.pool !== pool) {
      findings.found('not of the block', `${name} holds ${price} of pool ${pool}, which no source sent`);
      return;
    }
    const endedAt = claim.until ?? (claim.untilBlock === null ? claim.saidAt : now);
    if (claim.until === null && now - endedAt < SAID_MS) return;
    const calmAt = faults.calmSince(FAULTS_OF_SOURCES);
    const sinceMs = now - Math.max(endedAt, calmAt);
    // A source that is silent withdraws nothing: its prices become too old.
    // Few calls are saved by what is young enough.
    const isKept = claim.until === null || !this.hasEnoughCalls || !faults.isCalmFor(now - endedAt);
    // What a block ends holds until the block is pushed.
    const pushMs = claim.untilBlock === null ? 0 : Math.max(...PUSH_MS);
    const usualMs = REACH_MS + extraMs + pushMs + (isKept ? this.#maxAgeMs : 0);
    const mostMs = 2 * this.#maxAgeMs + FIRST_SILENCE_MS + RUN_MS + LATE_MS + extraMs + SILENCE_MS;
    if (sinceMs > usualMs || now - endedAt > mostMs)
      findings.found('withdrawn', `${name} holds ${price} of pool ${pool} ${now - endedAt} ms after its end`);
  }

  get #maxAgeMs(): number {
    const { live, blockTimeMs } = this.#world.config;
    return live ? liveMaxAgeMs(live, blockTimeMs) : 0;
  }
}
