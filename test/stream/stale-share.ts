import { connectSse } from './sse-client.ts';

/** What a reader of a stream saw of its pools. */
export interface StaleShare {
  /** Part of the time in which pools were `stale`, over all pools; null without any. */
  readonly share: number | null;
  /** Messages with quotes. */
  readonly readings: number;
}

/**
 * Follows pools with depth, and sums the time in which they are `stale`.
 *
 * @param base URL of the chain, such as `https://…/public/v1/evm/1`
 */
export async function staleShare(
  base: string,
  pools: readonly string[],
  { ms, key }: { readonly ms: number; readonly key?: string | undefined },
): Promise<StaleShare> {
  const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  const since = new Map<string, number>();
  let staleMs = 0;
  let readings = 0;
  const end = (pool: string) => {
    const at = since.get(pool);
    if (at !== undefined) staleMs += performance.now() - at;
    since.delete(pool);
  };
  const url = `${base}/stream?pools=${pools.join(',')}`;
  const startedAt = performance.now();
  const client = await connectSse(url, undefined, headers, ({ event, data }) => {
    const { quotes = [], pools: named = [] } = data as Record<string, { readonly poolAddress: string }[] | undefined>;
    if (quotes.length > 0) readings += 1;
    for (const { poolAddress } of quotes) end(poolAddress);
    if (event === 'stale')
      for (const { poolAddress } of named) since.set(poolAddress, since.get(poolAddress) ?? performance.now());
  });
  if (client.status !== 200) throw new Error(`the stream answered ${client.status}`);
  await new Promise((resolve) => setTimeout(resolve, ms));
  client.close();
  for (const pool of [...since.keys()]) end(pool);
  const seen = client.book.quotes.size;
  return { share: seen > 0 ? staleMs / (pools.length * (performance.now() - startedAt)) : null, readings };
}
