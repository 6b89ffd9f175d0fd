import type { GraphPool } from '../../protocol/routing/graph.ts';
import type { Hop, HopFill, Order, PlanFill } from '../../protocol/routing/routes.ts';
import { costOfGas, type GasPrice, gasOfSwap } from '../../protocol/swap-gas.ts';
import type { Chain } from '../../quoting/open-chain.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import type { DepthSnapshot, SnapshotMap } from '../../quoting/types.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';

/** A leg of a plan. */
export type Fill = HopFill<ServedPool>;
/** Gas of a leg without the transaction's own; null: not known. */
export type GasOf = (fill: Fill) => number | null;

/** What a pool counts that could not be measured. */
const UNMEASURED_GAS = 300_000;

/** What routes know of the gas of pools that were read. */
export class RouteGas {
  readonly #swapGas: Chain['swapGas'];
  readonly #snapshots: SnapshotMap<DepthSnapshot>;
  readonly #waitMs: number;

  /** @param waitMs longest wait for nodes: what they have not said then is not known */
  constructor(swapGas: Chain['swapGas'], snapshots: SnapshotMap<DepthSnapshot>, waitMs: number) {
    this.#swapGas = swapGas;
    this.#snapshots = snapshots;
    this.#waitMs = waitMs;
  }

  /** About the gas of a leg, as its pool was measured last; begins to measure a pool that was not. */
  readonly about = ({ hop, level }: Pick<HopFill<GraphPool>, 'hop' | 'level'>): number | null => {
    const snapshot = this.#snapshotOf(hop);
    const gas = snapshot && this.#swapGas.of(snapshot, snapshot.block);
    return gas && gasOfSwap(hop.zeroForOne ? gas.bids : gas.asks, level);
  };

  /** Measures pools, and says what their swaps cost by it. */
  async costOf(hops: readonly Hop[], gasPrice: GasPrice): Promise<Order['costOf']> {
    for (const hop of hops) this.about({ hop, level: 0 });
    const pools = new Set(hops.map(({ pool }) => pool.address));
    await withTimeout(this.#swapGas.settled(pools), this.#waitMs).catch(() => undefined);
    return (hop, level) => costOfGas(gasPrice, this.about({ hop, level }) ?? UNMEASURED_GAS);
  }

  /** Simulates the legs of a plan. */
  async simulated({ routes }: PlanFill<ServedPool>, { tradeType }: Pick<Order, 'tradeType'>): Promise<GasOf> {
    const fills = routes.flatMap((route): readonly Fill[] => route.fills);
    const signal = AbortSignal.timeout(this.#waitMs);
    const gas = fills.map(({ hop, given }) => {
      const snapshot = this.#snapshotOf(hop);
      const amount = tradeType === 'exact_in' ? given : -given;
      return snapshot && this.#swapGas.simulate({ snapshot, zeroForOne: hop.zeroForOne, amount, signal });
    });
    const found = new Map((await Promise.all(gas)).map((each, index) => [fills[index], each]));
    return (fill) => found.get(fill) ?? null;
  }

  #snapshotOf({ pool }: Hop): DepthSnapshot | null {
    const snapshot = this.#snapshots.get(pool.address);
    return snapshot && !(snapshot instanceof SnapshotError) ? snapshot : null;
  }
}
