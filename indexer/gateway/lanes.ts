/**
 * Ponder begins with 20 requests a second per URL and raises that slowly, out of regard for providers. A node on this
 * machine needs no such regard: it is given this many lanes.
 */
const LOOPBACK_LANES = 16;
const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * The lanes of a chain: Ponder is given a URL for each.
 *
 * @returns for each lane the position, among `rpcUrls`, of the node that is asked first
 */
export function lanesOf(rpcUrls: readonly string[]): number[] {
  return rpcUrls.flatMap((url, node) => {
    const isLocal = LOOPBACK_HOSTS.includes(new URL(url).hostname);
    return Array<number>(isLocal ? LOOPBACK_LANES : 1).fill(node);
  });
}
