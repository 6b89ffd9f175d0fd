import type { Address } from 'viem';

/** How a client reads its connection. */
export type Pace = 'good' | 'slow' | 'never';

/** One connection to be opened. */
export interface Plan {
  readonly chainId: number;
  readonly transport: 'sse' | 'ws';
  readonly pools: readonly Address[];
  readonly depth: boolean;
  readonly pace: Pace;
}

export interface Mix {
  readonly total: number;
  readonly withDepth: number;
  /** Take little at a time; `never` nothing at all. */
  readonly slow: number;
  readonly never: number;
  readonly poolsEach: number;
}

/** Connections, alternating between chains and transports, each with pools of its own choice. */
export function planConnections(
  chains: readonly { readonly chainId: number; readonly pools: readonly (readonly Address[])[] }[],
  { total, withDepth, slow, never, poolsEach }: Mix,
): Plan[] {
  return Array.from({ length: total }, (_, index) => {
    const chain = chains[index % chains.length];
    if (!chain) throw new RangeError('no chains');
    const all = chain.pools.flat();
    // Each kind of reader has both transports, chains and depths: the factors have no divisor in common with the total.
    const [kind, pace] = [(index * 389) % total, (index * 613) % total];
    return {
      chainId: chain.chainId,
      transport: Math.floor(index / chains.length) % 2 === 0 ? 'sse' : 'ws',
      pools: Array.from({ length: poolsEach }, (_, n) => all[(index * 7 + n * 3) % all.length] as Address),
      depth: kind < withDepth,
      pace: pace < never ? 'never' : pace < never + slow ? 'slow' : 'good',
    };
  });
}
