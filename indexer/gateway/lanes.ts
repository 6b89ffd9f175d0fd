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

/** What decides in which order a chain's nodes are asked, besides the lane. Nodes are indexes in `rpcUrls`. */
export interface NodePreference {
  /** Asked after the others. */
  readonly last: ReadonlySet<number>;
  /** Set for a repair after the first one: all lanes begin with one node, with another one at each turn. */
  readonly turn: number | undefined;
}

/** The order in which a lane asks nodes: its own first one, then those after it. */
export function nodesInOrder(first: number, nodes: number, { last, turn }: NodePreference): number[] {
  const inTurn = Array.from({ length: nodes }, (_, place) => (first + place) % nodes);
  const [others, late] = [inTurn.filter((node) => !last.has(node)), inTurn.filter((node) => last.has(node))];
  const ordered = [...others, ...late];
  if (turn === undefined) return ordered;
  const candidates = (others.length > 0 ? others : late).toSorted((one, other) => one - other);
  const chosen = candidates[turn % candidates.length];
  return [...ordered.filter((node) => node === chosen), ...ordered.filter((node) => node !== chosen)];
}
