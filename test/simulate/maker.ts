import { encodeOwnUpdate, type OwnUpdate, ownUpdatesChannel } from '../../quoting/live/own-update.ts';
import { txOf } from './own-updates-source.ts';
import type { Plan } from './plan.ts';
import type { Truth } from './truth.ts';
import type { VirtualChain } from './virtual-chain.ts';
import type { VirtualRedis } from './virtual-redis.ts';
import type { VirtualTime } from './virtual-time.ts';
import { CHAIN, PREFIX } from './world-config.ts';

/** What a maker acts in. */
export interface Market {
  readonly time: VirtualTime;
  readonly chain: VirtualChain;
  readonly plan: Plan;
  readonly truth: Truth;
  readonly redis: VirtualRedis;
  /** A price that no pool had before. */
  newPrice(): bigint;
}

/** A maker who publishes updates of the last pool. */
export class Maker {
  readonly #market: Market;
  #last: OwnUpdate | undefined;
  #price = 0n;

  constructor(market: Market) {
    this.#market = market;
  }

  /**
   * Publishes an update; null cancels the last one.
   *
   * @param blocks how many it is good for
   * @param isHeard whether it surely reaches who reads: else the one before may hold as long as it is good
   */
  publish(blocks: number | null, isHeard: boolean): void {
    const { time, chain, plan, truth, redis } = this.#market;
    const before = this.#last;
    if (blocks === null && !before) return;
    if (before && before.tx !== '0x' && isHeard) truth.withdraw(this.#price, time.now);
    const fromBlock = chain.head.number + 1n;
    const untilBlock = fromBlock + BigInt(blocks ?? 1) - 1n;
    const pool = plan.pools - 1;
    const price = this.#market.newPrice();
    if (blocks !== null) {
      this.#price = price;
      truth.say(price, pool, time.now, untilBlock);
    }
    this.#last = {
      sender: 'maker',
      uuid: `0x${'1'.repeat(32)}`,
      seq: (before?.seq ?? 0n) + 1n,
      tx: blocks === null ? '0x' : txOf(pool, price),
      fromBlock,
      untilBlock,
      sentAtMs: time.wallMs(),
    };
    redis.publish(ownUpdatesChannel(PREFIX, CHAIN), encodeOwnUpdate(this.#last));
  }
}
