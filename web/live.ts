import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { type Stale, stream } from 'pool-trading-data-client/stream';
import type { Quote } from './api.ts';

/** What is known of a pool now: its last quote, and why there is no newer one. */
export type LiveQuote = { readonly quote: Quote | null; readonly failure: string | null };

const NOTHING_YET: LiveQuote = { quote: null, failure: null };
/** Pools that come into sight within this time are followed together. */
const GATHER_MS = 50;
/** Most pools that one stream may name. */
const MAX_POOLS = 500;

type Watched = { readonly shown: Signal<LiveQuote>; watchers: number };

/** Follows a chain's pools that are in sight, all over one stream. A pool that comes into sight restarts the stream. */
class FollowedChain {
  readonly pools = new Map<string, Watched>();
  readonly #chainId: number;
  #stop: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(chainId: number) {
    this.#chainId = chainId;
  }

  /** To be called when pools were added, or when all are gone. Until then, removed pools stay in the stream. */
  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#stop?.();
      const pools = [...this.pools.keys()].slice(0, MAX_POOLS);
      this.#stop = pools.length === 0 ? undefined : follow(this.#chainId, pools, false, this.#show);
    }, GATHER_MS);
  }

  readonly #show = (pool: string, live: LiveQuote): void => {
    const watched = this.pools.get(pool);
    if (watched) watched.shown.value = { ...live, quote: live.quote ?? watched.shown.value.quote };
  };
}

const chains = new Map<number, FollowedChain>();

/** Follows a pool's prices until stopped. All followers of a pool share one signal, all pools of a chain one stream. */
export function followQuote(
  chainId: number,
  pool: string,
): { readonly live: ReadonlySignal<LiveQuote>; readonly stop: () => void } {
  const chain = chains.get(chainId) ?? new FollowedChain(chainId);
  chains.set(chainId, chain);
  const watched = chain.pools.get(pool) ?? { shown: signal(NOTHING_YET), watchers: 0 };
  chain.pools.set(pool, watched);
  watched.watchers += 1;
  if (watched.watchers === 1) chain.restart();
  return {
    live: watched.shown,
    stop: () => {
      watched.watchers -= 1;
      if (watched.watchers > 0) return;
      chain.pools.delete(pool);
      if (chain.pools.size === 0) chain.restart();
    },
  };
}

/** Follows the depth of one pool. @returns stops it */
export function followDepth(chainId: number, pool: string, onChange: (live: LiveQuote) => void): () => void {
  let last: Quote | null = null;
  return follow(chainId, [pool], true, (_, { quote, failure }) => {
    last = quote ?? last;
    onChange({ quote: last, failure });
  });
}

type Show = (pool: string, live: LiveQuote) => void;

/** How long live prices stay when a block ends them. */
const NEXT_LIVE_MS = 1_000;

/** Shows a committed price after a live one only if no live one follows: makers need a moment for the next block. */
function bridgeBlocks(show: Show, signal: AbortSignal): Show {
  /** Pools that show a live price, and the committed one that waits. */
  const waiting = new Map<string, LiveQuote | null>();
  return (pool, live) => {
    const before = waiting.get(pool);
    if (!live.quote) waiting.delete(pool);
    else if (live.quote.basis?.kind === 'live') waiting.set(pool, null);
    else if (before !== undefined) {
      waiting.set(pool, live);
      if (before !== null) return;
      setTimeout(() => {
        const last = waiting.get(pool);
        if (!last || signal.aborted) return;
        waiting.delete(pool);
        show(pool, last);
      }, NEXT_LIVE_MS);
      return;
    }
    show(pool, live);
  };
}

/** Follows pools, but not while the page is hidden. @returns stops it */
function follow(chainId: number, pools: readonly string[], depth: boolean, onQuote: Show): () => void {
  let stop = new AbortController();
  const begin = async () => {
    const { signal } = stop;
    const show = bridgeBlocks(onQuote, signal);
    try {
      for await (const { quotes, stale } of stream({ url: location.origin, chainId, pools, depth, signal })) {
        for (const [pool, quote] of quotes) show(pool, { quote, failure: null });
        for (const [pool, reason] of stale) show(pool, { quote: null, failure: inWords(reason) });
      }
    } catch (error) {
      for (const pool of pools) show(pool, { quote: null, failure: String(error) });
    }
  };
  const restart = () => {
    stop.abort();
    stop = new AbortController();
    if (!document.hidden) void begin();
  };
  document.addEventListener('visibilitychange', restart);
  restart();
  return () => {
    document.removeEventListener('visibilitychange', restart);
    stop.abort();
  };
}

const inWords = ({ status, error }: Stale): string =>
  status === null ? 'The service cannot be reached. Trying again.' : `${error}. Trying again.`;
