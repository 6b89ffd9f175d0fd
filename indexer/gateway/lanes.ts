/**
 * Number of lanes of a node on this machine. To spare providers, Ponder begins with 20 requests a second per URL and
 * raises that slowly. A local node needs no such limit.
 */
const LOOPBACK_LANES = 16;
const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * The lanes of a chain. Ponder gets a URL for each of them.
 *
 * @returns for each lane, the index in `rpcUrls` of the node that it tries first
 */
export function lanesOf(rpcUrls: readonly string[]): number[] {
  return rpcUrls.flatMap((url, node) => {
    const isLocal = LOOPBACK_HOSTS.includes(new URL(url).hostname);
    return Array<number>(isLocal ? LOOPBACK_LANES : 1).fill(node);
  });
}
