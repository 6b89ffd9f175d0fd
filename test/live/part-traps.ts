import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { PartTrap } from '../../devnet/parts/part-traps.ts';
import type { LiveQuote } from './live-world.ts';
import { pricedQuotes, quotesAfter, quotesOf } from './part-quotes.ts';
import type { PartWorld } from './part-world.ts';

/** Each trap in which calls show that something is wrong, and two at once. */
export const PART_TRAPS: readonly (readonly PartTrap[])[] = [
  [{ kind: 'callsBehind', blocks: 3n }],
  [{ kind: 'allBehind', blocks: 400n }],
  [{ kind: 'allBehind', blocks: 0n }],
  [{ kind: 'otherContext' }],
  [{ kind: 'oldState', blocks: 0n }],
  [{ kind: 'oldState', blocks: 3n }],
  [{ kind: 'null' }],
  [{ kind: 'halves' }],
  [{ kind: 'halves', of: { kind: 'allBehind', blocks: 0n } }],
  [{ kind: 'halves', of: { kind: 'callsBehind', blocks: 17n } }],
  [{ kind: 'otherParent' }],
  [{ kind: 'halves' }, { kind: 'otherParent' }],
  [{ kind: 'null' }, { kind: 'callsBehind', blocks: 5n }],
];

/** In an order in which a request that one of them changed may still fall into the next. */
const PAIRED: readonly PartTrap[] = [
  { kind: 'otherParent' },
  { kind: 'halves' },
  { kind: 'otherContext' },
  { kind: 'oldState', blocks: 3n },
  { kind: 'callsBehind', blocks: 3n },
  { kind: 'allBehind', blocks: 17n },
  { kind: 'null' },
];

/** Each two at once. */
export const TRAP_PAIRS: readonly (readonly PartTrap[])[] = PAIRED.flatMap((one, index) =>
  PAIRED.slice(index + 1).map((other) => [one, other]),
);

export const trapName = (traps: readonly PartTrap[]): string => traps.map(nameOf).join(', ');

function nameOf(trap: PartTrap): string {
  if (trap.kind === 'halves' && trap.of) return `halves of ${nameOf(trap.of)}`;
  return 'blocks' in trap ? `${trap.kind} ${trap.blocks}` : trap.kind;
}

/** What a pool quotes, by its levels. */
export const levelsOf = ({ bidAdj, askAdj, depth }: LiveQuote) => ({ bidAdj, askAdj, depth });

/** Of 20 blocks. */
const MAX_HIDDEN_PARTS = 200;
const PRICES = [190n, 191n, 192n, 193n, 194n, 195n, 196n, 197n] as const;
/** The first part of a block has no prices. */
type State = (typeof PRICES)[number] | 'none';

/** Follows the parts of a world whose pools have no guards: what they quote depends on the last prices alone. */
export class FollowedParts {
  readonly #world: PartWorld;
  readonly #right: ReadonlyMap<State, readonly object[]>;
  /** The states of the parts of each block. */
  readonly #states = new Map<number, State[]>();
  #count = 0;
  #seen = { live: 0, committed: 0 };

  private constructor(world: PartWorld, right: ReadonlyMap<State, readonly object[]>) {
    this.#world = world;
    this.#right = right;
  }

  /** Learns from an honest node what pools quote at each price. */
  static async open(world: PartWorld): Promise<FollowedParts> {
    const right = new Map<State, readonly object[]>();
    for (const price of PRICES) right.set(price, (await pricedQuotes(world, price)).quotes.map(levelsOf));
    let part = world.node.part();
    while (part.index > 0) part = await world.node.nextPart();
    right.set('none', (await quotesAfter(world, part)).map(levelsOf));
    return new FollowedParts(world, right);
  }

  /**
   * Shows parts while the node is in these traps, and one after them. Fails on a quote of a wrong state. Where no call
   * shows by itself that a node has the state of the head, it must be found out before.
   *
   * @param paceMs between parts
   * @returns how many quotes were seen
   */
  async trap(traps: readonly PartTrap[], parts: number, paceMs = 0) {
    this.#seen = { live: 0, committed: 0 };
    this.#world.node.trap(...traps);
    const isHidden = traps.some((trap) => trap.kind === 'oldState' && trap.blocks === 0n);
    for (let shown = 0; isHidden && !this.#isLagging && shown < MAX_HIDDEN_PARTS; shown += 1) {
      await this.#next();
      for (const basis of ['live', 'committed']) await quotesOf(this.#world, { basis });
    }
    for (let shown = 0; shown < parts; shown += 1) {
      const paced = sleep(paceMs);
      await this.#next();
      for (const basis of ['live', 'committed']) this.#check(await quotesOf(this.#world, { basis }), trapName(traps));
      await paced;
    }
    await this.live([], `after ${trapName(traps)}`);
    return this.#seen;
  }

  /** Shows a part while the node is in these traps, and waits for live quotes. Fails on one of a wrong state. */
  async live(traps: readonly PartTrap[], name = trapName(traps)): Promise<void> {
    this.#world.node.trap(...traps);
    this.#check(await quotesAfter(this.#world, await this.#next()), name);
  }

  get #isLagging(): boolean {
    return Object.values(this.#world.api.warnings()).some((text) => text.includes('(lagging)'));
  }

  async #next() {
    const price = PRICES[this.#count % PRICES.length] as State & bigint;
    this.#count += 1;
    const part = await this.#world.price(price);
    const states = this.#states.get(Number(part.number)) ?? ['none'];
    states[part.index] = price;
    this.#states.set(Number(part.number), states);
    return part;
  }

  #check(quotes: readonly LiveQuote[], name: string): void {
    for (const [pool, quote] of quotes.entries()) {
      const { kind, targetBlockNumber, blockNumber, source } = quote.basis ?? {};
      const isLive = kind === 'live';
      this.#seen[isLive ? 'live' : 'committed'] += 1;
      const states = this.#states.get((isLive ? targetBlockNumber : blockNumber) ?? -1);
      // Of blocks from before.
      if (!states) continue;
      const index = isLive ? (source?.part ?? null) : states.length - 1;
      const possible = index === null ? states : [states[index] as State];
      const right = possible.map((state) => this.#right.get(state)?.[pool]);
      expect(right, `${name}, pool ${pool}, ${kind} of part ${index}`).toContainEqual(levelsOf(quote));
    }
  }
}
