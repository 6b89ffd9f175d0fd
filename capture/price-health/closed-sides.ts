import type { Address } from 'viem';
import type { ClosedSides } from '../../quoting/calls/pool-price.ts';
import type { CaptureClass } from '../read-schedule/pool-values.ts';

/** Finds sides that do not trade. */
export interface SideProbe {
  /** Probes the due pools of a class. @returns number of pools probed */
  readonly run: (kind: CaptureClass) => Promise<number>;
  /**
   * What the last probe of each pool found closed: the probe alone changes it. A pool with both sides open is left out.
   */
  readonly closed: ReadonlyMap<Address, ClosedSides>;
}

/** Notes what a probe found. */
export function noteSides(closed: Map<Address, ClosedSides>, pool: Address, sides: ClosedSides): void {
  if (sides.bids || sides.asks) closed.set(pool, sides);
  else closed.delete(pool);
}

/** Forgets all other pools. */
export function keepPools(closed: Map<Address, ClosedSides>, pools: readonly { readonly address: Address }[]): void {
  const kept = new Set(pools.map(({ address }) => address));
  for (const pool of closed.keys()) if (!kept.has(pool)) closed.delete(pool);
}
