import { connectSse } from './sse-client.ts';

/** What a reader of a stream saw of its pools. */
export interface StaleShare {
  /** Part of the time in which pools were `stale`, over all pools; null without any. */
  readonly share: number | null;
  readonly times: readonly StaleTime[];
  /** Messages with quotes. */
  readonly readings: number;
}

/** A time in which a pool was `stale`, and why. `at` as a time stamp. */
interface StaleTime {
  readonly poolAddress: string;
  readonly error: string | undefined;
  readonly at: string;
  ms: number | null;
}

/**
 * Follows pools with depth, and notes the times in which they are `stale`.
 *
 * @param base URL of the chain, such as `https://…/public/v1/evm/1`
 */
export async function staleShare(
  base: string,
  pools: readonly string[],
  { ms, key }: { readonly ms: number; readonly key?: string | undefined },
): Promise<StaleShare> {
  const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  const open = new Map<string, { readonly since: number; readonly time: StaleTime }>();
  const times: StaleTime[] = [];
  let readings = 0;
  const end = (pool: string) => {
    const stale = open.get(pool);
    if (stale) stale.time.ms = performance.now() - stale.since;
    open.delete(pool);
  };
  const begin = (poolAddress: string, error: string | undefined) => {
    if (open.has(poolAddress)) return;
    const time = { poolAddress, error, at: new Date().toISOString(), ms: null };
    times.push(time);
    open.set(poolAddress, { since: performance.now(), time });
  };
  const url = `${base}/stream?pools=${pools.join(',')}`;
  const startedAt = performance.now();
  const client = await connectSse(url, undefined, headers, ({ event, data }) => {
    const { quotes = [], pools: named = [] } = data as Record<
      string,
      { readonly poolAddress: string; readonly error?: string }[] | undefined
    >;
    if (quotes.length > 0) readings += 1;
    for (const { poolAddress } of quotes) end(poolAddress);
    if (event === 'stale') for (const { poolAddress, error } of named) begin(poolAddress, error);
  });
  if (client.status !== 200) throw new Error(`the stream answered ${client.status}`);
  await new Promise((resolve) => setTimeout(resolve, ms));
  client.close();
  for (const pool of [...open.keys()]) end(pool);
  const staleMs = times.reduce((sum, time) => sum + (time.ms ?? 0), 0);
  const seen = client.book.quotes.size;
  return { share: seen > 0 ? staleMs / (pools.length * (performance.now() - startedAt)) : null, times, readings };
}
