/**
 * Times a batch of quotes: milliseconds to its last byte.
 *
 * @param api routes of a chain
 * @throws Error unless all quotes came
 */
export async function timeBatch(api: string, pools: readonly string[], depth = true): Promise<number> {
  const startedAt = performance.now();
  const body = JSON.stringify({ pools, depth });
  const response = await fetch(`${api}/bid_ask/batch`, { method: 'POST', body });
  const text = await response.text();
  const ms = performance.now() - startedAt;
  if (response.status !== 200 || text.includes('"error"')) {
    throw new Error(`batch: ${response.status} ${text.slice(0, 200)}`);
  }
  return ms;
}
