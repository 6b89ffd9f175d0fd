import type { Hex, TransactionReceipt } from 'viem';
import { connectDevChain, type DevChain, findReceipt, mined, submit, type Transaction } from './dev-chain.ts';
import type { Scenario } from './scenario.ts';
import { planAdministration } from './traffic/administration.ts';
import { planFeedMove, readFeedOffsets } from './traffic/feed-walk.ts';
import { planAddition, planRemoval } from './traffic/liquidity.ts';
import { type Random, seededRandom } from './traffic/random.ts';
import { planSwap } from './traffic/swaps.ts';
import type { TrafficMemory, TrafficWorld } from './traffic/world.ts';

export interface TrafficOptions {
  readonly rpcUrl: string;
  readonly scenario: Scenario;
  /** The same seed on the same chain gives the same actions, if blocks are mined at once. */
  readonly seed: number;
}

export type ActionKind = 'swap' | 'add' | 'remove' | 'feed' | 'collect' | 'administer';

/** `open`: sent, not mined yet. A refused action is part of the game. */
export interface ActionCounts {
  readonly done: number;
  readonly rejected: number;
  readonly open: number;
  readonly byKind: Readonly<Record<ActionKind, number>>;
}

export interface Traffic {
  /** Does one action. Waits for the node to take it; for its block only when the node mines at once. */
  step(): Promise<ActionKind>;
  /** Mines a block at this time, Unix seconds, with swaps and now and then a move of a feed. */
  mineAt(timestamp: number, actions: number): Promise<void>;
  /** Waits until everything sent is mined. */
  settle(): Promise<void>;
  counts(): ActionCounts;
}

/** What is done how often, in parts of a hundred. */
const HABITS: readonly (readonly [ActionKind, number])[] = [
  ['swap', 62],
  ['add', 10],
  ['remove', 10],
  ['feed', 12],
  ['collect', 2],
  ['administer', 4],
];

/** Percent of the actions of {@link Traffic.mineAt}. */
const PAST_FEED_MOVES = 20;

/** Trades in the busy pools of a scenario, funds them, moves their feeds, and now and then changes their settings. */
export async function createTraffic({ rpcUrl, scenario, seed }: TrafficOptions): Promise<Traffic> {
  const chain = await connectDevChain(rpcUrl);
  const memory: TrafficMemory = { positions: [], feedOffsetsE6: await readFeedOffsets(chain, scenario) };
  const world: TrafficWorld = { chain, scenario, random: seededRandom(seed), memory };
  const tally = new Tally(chain);
  return {
    async step() {
      const kind = pickKind(world.random);
      for (const transaction of await plan(kind, world)) await tally.send(transaction);
      tally.count(kind);
      // A node that mines at once is waited for: the next action must see this one, or chance would not repeat.
      if (await chain.client.getAutomine()) await tally.settle();
      else await tally.check();
      return kind;
    },
    async mineAt(timestamp, actions) {
      for (let n = 0; n < actions; n += 1) {
        const plan = world.random.chance(PAST_FEED_MOVES) ? planFeedMove : planSwap;
        for (const transaction of await plan(world)) await submit(chain, transaction);
      }
      await chain.client.setNextBlockTimestamp({ timestamp: BigInt(timestamp) });
      await chain.client.mine({ blocks: 1 });
    },
    settle: () => tally.settle(),
    counts: () => tally.counts(),
  };
}

function pickKind(random: Random): ActionKind {
  let rest = random.integer(0, 99);
  for (const [kind, parts] of HABITS) {
    if (rest < parts) return kind;
    rest -= parts;
  }
  return 'swap';
}

/** The transactions of an action; empty when there is nothing to do. */
function plan(kind: ActionKind, world: TrafficWorld): Promise<readonly Transaction[]> {
  switch (kind) {
    case 'swap':
      return planSwap(world);
    case 'add':
      return planAddition(world);
    case 'remove':
      return planRemoval(world);
    case 'feed':
      return planFeedMove(world);
    case 'collect':
    case 'administer':
      return planAdministration(world, kind);
  }
}

/** Counts what became of the transactions sent. */
class Tally {
  readonly #chain: DevChain;
  readonly #byKind: Record<ActionKind, number> = { swap: 0, add: 0, remove: 0, feed: 0, collect: 0, administer: 0 };
  #open: Hex[] = [];
  #done = 0;
  #rejected = 0;

  constructor(chain: DevChain) {
    this.#chain = chain;
  }

  async send(transaction: Transaction): Promise<void> {
    this.#open.push(await submit(this.#chain, transaction));
  }

  count(kind: ActionKind): void {
    this.#byKind[kind] += 1;
  }

  /** Looks once at every open transaction. */
  async check(): Promise<void> {
    const stillOpen: Hex[] = [];
    for (const hash of this.#open) {
      const receipt = await findReceipt(this.#chain, hash);
      if (receipt === undefined) stillOpen.push(hash);
      else this.#close(receipt);
    }
    this.#open = stillOpen;
  }

  async settle(): Promise<void> {
    for (const hash of this.#open.splice(0)) this.#close(await mined(this.#chain, hash));
  }

  #close({ status }: TransactionReceipt): void {
    if (status === 'success') this.#done += 1;
    else this.#rejected += 1;
  }

  counts(): ActionCounts {
    return { done: this.#done, rejected: this.#rejected, open: this.#open.length, byKind: { ...this.#byKind } };
  }
}
