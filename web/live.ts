import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { client, inWords, type Quote, unwrap } from './api.ts';
import { startPolling } from './polling.ts';

/** What is known of a pool now: its last quote, and why there is no newer one. */
export type LiveQuote = { readonly quote: Quote | null; readonly failure: string | null };

/** One request a second at most, whatever number of chains and pools is in sight. */
const REQUEST_EVERY_MS = 1_000;
/** A chain is asked again after this long. */
const CHAIN_EVERY_MS = 2_000;
/** The most that one request may name. */
const MAX_POOLS = 100;
const NOTHING_YET: LiveQuote = { quote: null, failure: null };

type Watched = { readonly shown: Signal<LiveQuote>; watchers: number };
type Chain = { readonly pools: Map<string, Watched>; askedAt: number };

const chains = new Map<number, Chain>();
let stop: (() => void) | undefined;

/**
 * Follows the prices of a pool until it is stopped. All followers of a pool share one signal, and all pools of a chain
 * one request.
 */
export function followQuote(
  chainId: number,
  pool: string,
): { readonly live: ReadonlySignal<LiveQuote>; readonly stop: () => void } {
  const chain = chains.get(chainId) ?? { pools: new Map<string, Watched>(), askedAt: 0 };
  chains.set(chainId, chain);
  const watched = chain.pools.get(pool) ?? { shown: signal(NOTHING_YET), watchers: 0 };
  chain.pools.set(pool, watched);
  watched.watchers += 1;
  // Pools that come into sight together are asked for together.
  if (watched.watchers === 1) chain.askedAt = 0;
  stop ??= startPolling(askNext, REQUEST_EVERY_MS);
  return {
    live: watched.shown,
    stop: () => {
      watched.watchers -= 1;
      if (watched.watchers > 0) return;
      chain.pools.delete(pool);
      if (chain.pools.size === 0) chains.delete(chainId);
      if (chains.size > 0) return;
      stop?.();
      stop = undefined;
    },
  };
}

/** Asks for the pools of the chain that has waited longest. */
async function askNext(): Promise<void> {
  // Rows that are shown together start to follow in one frame.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const [next] = [...chains].sort(([, one], [, other]) => one.askedAt - other.askedAt);
  if (!next || Date.now() - next[1].askedAt < CHAIN_EVERY_MS) return;
  const [chainId, chain] = next;
  chain.askedAt = Date.now();
  const pools = [...chain.pools.keys()].slice(0, MAX_POOLS);
  try {
    const params = { path: { chain_id: chainId } };
    const body = { pools, depth: false };
    const { results } = await unwrap(client.POST('/public/v1/evm/{chain_id}/bid_ask/batch', { params, body }));
    for (const result of results) {
      if ('quote' in result) show(chain, result.poolAddress, { quote: result.quote, failure: null });
      else fail(chain, result.poolAddress, result.error.error);
    }
  } catch (error) {
    for (const pool of pools) fail(chain, pool, inWords(error));
    throw error;
  }
}

function show(chain: Chain, pool: string, live: LiveQuote): void {
  const watched = chain.pools.get(pool);
  if (watched) watched.shown.value = live;
}

/** The last quote stays, and its age shows. */
function fail(chain: Chain, pool: string, failure: string): void {
  const watched = chain.pools.get(pool);
  if (watched) watched.shown.value = { ...watched.shown.value, failure };
}

/** Follows the depth of one pool. @returns stops it */
export function followDepth(chainId: number, pool: string, onChange: (live: LiveQuote) => void): () => void {
  let last: LiveQuote = NOTHING_YET;
  return startPolling(async (stopped) => {
    const path = { chain_id: chainId, pool_address: pool };
    const request = client.GET('/public/v1/evm/{chain_id}/{pool_address}/bid_ask', {
      params: { path, query: { depth: true } },
    });
    let failed: unknown;
    last = await unwrap(request).then(
      (quote) => ({ quote, failure: null }),
      (error) => {
        failed = error;
        return { ...last, failure: inWords(error) };
      },
    );
    if (stopped.aborted) return;
    onChange(last);
    if (failed !== undefined) throw failed;
  }, CHAIN_EVERY_MS);
}
