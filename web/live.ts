import { type Stale, stream } from 'pool-trading-data-client/stream';
import type { Quote } from './api.ts';
import { bridgeBlocks } from './bridge-blocks.ts';
import { FollowedChain, type LiveQuote, type Show } from './followed-chain.ts';

const chains = new Map<number, FollowedChain>();

/** Follows a pool's prices until stopped. All followers of a pool share one signal, pools of a chain a stream. */
export function followQuote(chainId: number, pool: string): ReturnType<FollowedChain['watch']> {
  const chain = chains.get(chainId) ?? new FollowedChain((pools, show) => follow(chainId, pools, false, show));
  chains.set(chainId, chain);
  return chain.watch(pool);
}

/** Follows the depth of one pool. @returns stops it */
export function followDepth(chainId: number, pool: string, onChange: (live: LiveQuote) => void): () => void {
  let last: Quote | null = null;
  return follow(chainId, [pool], true, (_, { quote, failure }) => {
    last = quote ?? last;
    onChange({ quote: last, failure });
  });
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
