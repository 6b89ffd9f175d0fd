import { ResponseError } from 'pool-trading-data-client/rest';
import { type Stale, stream } from 'pool-trading-data-client/stream';
import type { Quote } from './api.ts';
import { bridgeBlocks } from './bridge-blocks.ts';
import { FollowedChain, type LiveQuote, type Show } from './followed-chain.ts';
import { startPolling } from './start-polling.ts';

/** Also the pause before a page that was hidden only briefly follows again. */
const AGAIN_MS = 4_000;
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

/** Follows pools, but not while the page is hidden. A rejected stream is tried again, ever later. @returns stops it */
function follow(chainId: number, pools: readonly string[], depth: boolean, onQuote: Show): () => void {
  return startPolling(async (stopped) => {
    const stop = new AbortController();
    const { signal } = stop;
    const end = () => stop.abort();
    document.addEventListener('visibilitychange', end, { signal });
    stopped.addEventListener('abort', end, { signal });
    const show = bridgeBlocks(onQuote, signal);
    try {
      for await (const { quotes, stale } of stream({ url: location.origin, chainId, pools, depth, signal })) {
        for (const [pool, quote] of quotes) show(pool, { quote, failure: null });
        for (const [pool, reason] of stale) show(pool, { quote: null, failure: inWords(reason) });
      }
    } catch (error) {
      const status = error instanceof ResponseError ? error.status : null;
      const failure = inWords({ status, error: error instanceof Error ? error.message : String(error) });
      for (const pool of pools) show(pool, { quote: null, failure });
      throw error;
    } finally {
      end();
    }
  }, AGAIN_MS);
}

const inWords = ({ status, error }: Stale): string =>
  status === null ? 'The service cannot be reached. Trying again.' : `${error}. Trying again.`;
