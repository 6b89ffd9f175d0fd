import { type Address, type Hex, toHex } from 'viem';
import type { LiveSourceConfig } from '../../config/live-schema.ts';
import type { Frame } from '../../quoting/live/frame.ts';
import { numberedAddress } from '../../quoting/pools/served-pool.fixture.ts';
import type { Machine } from './machine.ts';
import type { Random } from './random.ts';
import type { Truth } from './truth.ts';
import { oracleOf, PRICE_SLOT, type VirtualChain } from './virtual-chain.ts';
import type { VirtualTime } from './virtual-time.ts';

interface Listener {
  readonly machine: Machine;
  readonly onFrame: (frame: Frame) => boolean;
}

/** How often a source repeats what it says. */
const REPEAT_MS = 400;

/** A builder or a relayer that says which pools have which prices in the block after the head. */
export class VirtualSource {
  readonly config: LiveSourceConfig;
  readonly #chain: VirtualChain;
  readonly #truth: Truth;
  readonly #time: VirtualTime;
  readonly #random: Random;
  isSilent = false;
  /** How far above the block that is being built its frames are. */
  leap = 0n;
  readonly #says = new Map<number, bigint>();
  /** Pools that it named, which have no price now. */
  readonly #named = new Set<number>();
  readonly #listeners = new Set<Listener>();
  #repeatMs: number | null = REPEAT_MS;
  #cancelRepeat: () => void;

  constructor(config: LiveSourceConfig, chain: VirtualChain, truth: Truth, time: VirtualTime, random: Random) {
    this.config = config;
    this.#chain = chain;
    this.#truth = truth;
    this.#time = time;
    this.#random = random;
    this.#cancelRepeat = time.after(random.int(0, REPEAT_MS), () => this.#repeat());
  }

  /** @param repeatMs how often it repeats what it says from now on; null: never. Default: a few times a second */
  setPace(repeatMs: number | null = REPEAT_MS): void {
    this.#repeatMs = repeatMs;
    this.#repeatLater();
  }

  #repeat(): void {
    this.send();
    this.#repeatLater();
  }

  #repeatLater(): void {
    this.#cancelRepeat();
    if (this.#repeatMs === null) return;
    const ms = this.#repeatMs + this.#random.int(0, 50);
    this.#cancelRepeat = this.#time.after(ms, () => this.#repeat());
  }

  /** Lets a process listen. */
  open(machine: Machine, onFrame: Listener['onFrame']): { close(): void } {
    const listener = { machine, onFrame };
    // A connection takes a while.
    this.#time.after(
      this.#random.int(10, 60),
      () => {
        this.#listeners.add(listener);
        if (!this.isSilent) this.#claim();
        this.#give(listener);
      },
      machine,
    );
    return { close: () => void this.#listeners.delete(listener) };
  }

  /** Says another price of a pool, or none. */
  set(pool: number, price: bigint | null): void {
    const before = this.#says.get(pool);
    if (before !== undefined) this.#truth.withdraw(before, this.#time.now);
    this.#named.add(pool);
    if (price === null) this.#says.delete(pool);
    else this.#says.set(pool, price);
    this.send();
  }

  /** Pools that it says have a price. */
  get pools(): readonly number[] {
    return [...this.#says.keys()];
  }

  /** Sends a frame to all who listen. */
  send(): void {
    if (this.isSilent) return;
    this.#claim();
    for (const listener of this.#listeners) {
      if (listener.machine.isDead) this.#listeners.delete(listener);
      else this.#give(listener);
    }
  }

  #claim(): void {
    for (const [pool, price] of this.#says) this.#truth.say(price, pool, this.#time.now);
  }

  #give(listener: Listener): void {
    if (this.isSilent || (this.#named.size === 0 && this.config.kind !== 'relayer')) return;
    const frame = this.#frame();
    const give = () => {
      if (this.#listeners.has(listener)) listener.onFrame(frame);
    };
    this.#time.after(5, give, listener.machine);
  }

  #frame(): Frame {
    const isComplete = this.config.kind === 'relayer';
    const venues = new Map<Address, Map<Address, Map<Hex, Hex>>>();
    for (const pool of isComplete ? this.#says.keys() : this.#named) {
      const price = this.#says.get(pool);
      venues.set(numberedAddress(0x9000 + pool), price === undefined ? new Map() : wordsOf(pool, price));
    }
    return { blockNumber: this.#chain.head.number + 1n + this.leap, timestamp: null, venues, isComplete };
  }
}

/** The overrides that make a pool's price. */
export const wordsOf = (pool: number, price: bigint): Map<Address, Map<Hex, Hex>> =>
  new Map([[oracleOf(pool), new Map([[PRICE_SLOT, toHex(price, { size: 32 })]])]]);
