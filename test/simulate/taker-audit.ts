import type { Faults } from './faults.ts';
import type { Findings } from './findings.ts';
import type { LevelReader, TakenFrame } from './level-reader.ts';
import { type PriceAudit, REACH_MS } from './price-audit.ts';
import type { World } from './world.ts';

/** One frame comes each second at least. */
const FRAME_MS = 2_500;
/** A reader without frames is sent away after this time, or after four block times while frames are late. */
const LATE_MS = 10_000;
const LATE_BLOCKS = 4;
/** For so long after a reorganisation the block may go back. */
const REORGANISED_MS = 15_000;
const REORGANISED_BLOCKS = 4;

/** Compares frames of price levels with what is true. */
export class TakerAudit {
  readonly #world: World;
  readonly #faults: Faults;
  readonly #findings: Findings;
  readonly #prices: PriceAudit;
  /** The highest block of any branch. */
  #highest = 0n;

  constructor(world: World, faults: Faults, findings: Findings, prices: PriceAudit) {
    this.#world = world;
    this.#faults = faults;
    this.#findings = findings;
    this.#prices = prices;
  }

  /** A reader takes a frame. */
  take(reader: LevelReader, frame: TakenFrame): void {
    const [world, findings, faults] = [this.#world, this.#findings, this.#faults];
    const { last, lastBefore, name, process } = reader;
    findings.counts.frames += 1;
    findings.note(`${name} ${frame.block} ${[...frame.prices.values()].join()}`);
    const { now } = world.time;
    const forgivenMs = REORGANISED_MS + REORGANISED_BLOCKS * world.plan.blockTimeMs;
    // Another process knows of the block while Redis passes messages on, and nodes keep up.
    const seen = last ?? (lastBefore && faults.isCalmFor(now - lastBefore.at) ? lastBefore : undefined);
    if (seen && frame.block < seen.block && now - world.reorganisedAt > forgivenMs)
      findings.found('goes back', `${name} from block ${seen.block} to ${frame.block}`);
    if (last && frame.madeAtMs < last.madeAtMs) findings.found('goes back', `the time of a frame of ${name}`);
    const ageMs = world.time.trueMs() + (process?.machine.skewMs ?? 0) - frame.madeAtMs;
    if (ageMs > REACH_MS && faults.isCalmFor(ageMs, ['node'])) findings.found('frame is old', `${name}: ${ageMs} ms`);
    // A pool that nodes did not give is left out until its next turn.
    if (frame.prices.size < world.plan.pools && faults.isCalmFor(this.#prices.turnMs))
      findings.found(
        'frame is not whole',
        `${name} got pools ${[...frame.prices.keys()].join()} of ${world.plan.pools}`,
      );
    for (const [pool, price] of frame.prices) this.#prices.check(name, pool, price, 0);
  }

  /** To be called a few times a second. */
  check(): void {
    const { number } = this.#world.chain.head;
    if (number > this.#highest) this.#highest = number;
    for (const taker of this.#world.takers) this.#check(taker);
  }

  /** Who takes frames gets one or is sent away. */
  #check({ waitingSince, name, process }: LevelReader): void {
    const [world, findings, faults] = [this.#world, this.#findings, this.#faults];
    const machine = process?.machine;
    if (waitingSince === undefined || !machine || machine.isStopped || machine.isDead) return;
    const silentMs = world.time.now - Math.max(waitingSince, machine.thawedAt, world.usableSince);
    // A process that stood still while the chain went back may name a block that it had reached: live prices of earlier
    // ones then wait for it.
    const isRegained = world.chain.head.number === this.#highest;
    const isUsual = world.isHeadUsable && isRegained && faults.isCalmFor(silentMs) && this.#prices.hasEnoughCalls;
    const mostMs = isUsual ? 0 : Math.max(LATE_MS, LATE_BLOCKS * world.plan.blockTimeMs);
    if (silentMs > mostMs + FRAME_MS) findings.found('no frame', `${name} waits for ${silentMs} ms`);
  }
}
