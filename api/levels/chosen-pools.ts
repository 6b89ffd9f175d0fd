import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import { type ChoosePools, publicPools } from './choose-pools.ts';
import type { LevelsQuery } from './levels-query.ts';
import type { LevelQuotes } from './one-state.ts';
import type { LevelsChain } from './write-levels.ts';

export interface ChosenPoolsDeps {
  readonly chain: LevelsChain;
  readonly choose: ChoosePools;
  readonly query: LevelsQuery;
  /** Whether its clients have keys. */
  readonly byKey: boolean;
  /** The pools of the query. */
  readonly pools: readonly ServedPool[];
}

/** The pools of a query while its frames are read, which keep them requested and choose them again. */
export class ChosenPools {
  readonly #deps: ChosenPoolsDeps;
  readonly #requested: LevelQuotes['requested'];
  /** How many pools the query finds. */
  found: number;
  /** Those of them that frames show. */
  shown: readonly ServedPool[];
  #pins: readonly (() => void)[] = [];

  constructor(deps: ChosenPoolsDeps, requested: LevelQuotes['requested']) {
    this.#deps = deps;
    this.#requested = requested;
    this.found = deps.pools.length;
    this.shown = this.#shownOf(deps.pools);
  }

  /** Keeps the present ones requested, and begins to choose them again. */
  renew(): void {
    void this.#choose();
    const before = this.#pins;
    this.#pins = this.shown.map(({ address }) => this.#requested.pin(address, 'depths', this.#deps.byKey));
    for (const unpin of before) unpin();
  }

  /** Requests none of them any more. */
  release(): void {
    for (const unpin of this.#pins) unpin();
  }

  /** While the database does not answer, the pools stay. */
  async #choose(): Promise<void> {
    const { choose, chain, query } = this.#deps;
    const found = await choose(chain, query).catch(() => null);
    if (!found) return;
    this.found = found.length;
    this.shown = this.#shownOf(found);
  }

  #shownOf(pools: readonly ServedPool[]): readonly ServedPool[] {
    const { chain, query } = this.#deps;
    if (!query.isPublic) return pools;
    // Pools that are not read for anyone take no places.
    const isRead = (pool: ServedPool) => !chain.estimates.isReadForKeys(pool);
    return publicPools(chain, pools.filter(isRead));
  }
}
