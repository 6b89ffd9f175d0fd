/**
 * Ponder begins with 20 requests a second per URL and raises that slowly, out of regard for providers. A node on this
 * machine needs none: it is given this many.
 */
const LOOPBACK_LANES = 16;
const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost', '[::1]'];

/** For each URL that Ponder is given for a chain, its lane: the position of the node that it asks first. */
export function lanesOf(rpcUrls: readonly string[]): number[] {
  return rpcUrls.flatMap((url, node) => {
    const isLocal = LOOPBACK_HOSTS.includes(new URL(url).hostname);
    return Array<number>(isLocal ? LOOPBACK_LANES : 1).fill(node);
  });
}
