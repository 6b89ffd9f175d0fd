import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Quote } from './api.ts';

/** What is known of a pool now: its last quote, and why there is no newer one. */
export type LiveQuote = { readonly quote: Quote | null; readonly failure: string | null };
export type Show = (pool: string, live: LiveQuote) => void;

const NOTHING_YET: LiveQuote = { quote: null, failure: null };
/** Pools that come into sight within this time are followed together. */
const GATHER_MS = 50;
/** Most pools that one stream may name. */
const MAX_POOLS = 500;

type Watched = { readonly shown: Signal<LiveQuote>; watchers: number };

/** Follows a chain's pools that are in sight, over as few streams as may name them. New pools restart the streams. */
export class FollowedChain {
  readonly #pools = new Map<string, Watched>();
  readonly #follow: (pools: readonly string[], show: Show) => () => void;
  #stops: readonly (() => void)[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param follow follows pools over one stream until its result is called */
  constructor(follow: (pools: readonly string[], show: Show) => () => void) {
    this.#follow = follow;
  }

  /** Follows a pool's prices until stopped. All followers of a pool share one signal. */
  watch(pool: string): { readonly live: ReadonlySignal<LiveQuote>; readonly stop: () => void } {
    const watched = this.#pools.get(pool) ?? { shown: signal(NOTHING_YET), watchers: 0 };
    this.#pools.set(pool, watched);
    watched.watchers += 1;
    if (watched.watchers === 1) this.#restart();
    return {
      live: watched.shown,
      stop: () => {
        watched.watchers -= 1;
        if (watched.watchers > 0) return;
        this.#pools.delete(pool);
        // Until others come into sight, a removed pool stays in its stream.
        if (this.#pools.size === 0) this.#restart();
      },
    };
  }

  #restart(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      for (const stop of this.#stops) stop();
      const pools = [...this.#pools.keys()];
      this.#stops = Array.from({ length: Math.ceil(pools.length / MAX_POOLS) }, (_, part) =>
        this.#follow(pools.slice(part * MAX_POOLS, (part + 1) * MAX_POOLS), this.#show),
      );
    }, GATHER_MS);
  }

  readonly #show: Show = (pool, live) => {
    const watched = this.#pools.get(pool);
    if (watched) watched.shown.value = { ...live, quote: live.quote ?? watched.shown.value.quote };
  };
}
