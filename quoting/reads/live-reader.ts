import type { ReportedHead } from '../../chain/chain-rpc.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { perObject } from '../../runtime/per-object.ts';
import type { PoolRead } from '../calls/pool-calls.ts';
import type { LiveHeads } from '../live/live-heads.ts';
import type { ServedPool } from '../pools/pool-directory.ts';
import { SnapshotError } from '../snapshot-error.ts';
import type { DepthSnapshot, PriceSnapshot } from '../types.ts';
import type { PoolReader } from './pool-reader.ts';
import type { Kinds, SnapshotCache } from './snapshot-cache.ts';

export interface LiveReaderDeps {
  readonly reader: Pick<PoolReader, 'prices' | 'depth'>;
  /** The snapshots at the committed head. */
  readonly committed: Pick<SnapshotCache, 'read'>;
  readonly heads: Pick<LiveHeads, 'suspend'>;
}

/**
 * Reads pools in the block that is being built. A pool without a live price there, or that cannot be read there, is
 * read at the committed head, as its snapshot says.
 */
export class LiveReader implements Pick<PoolReader, 'prices' | 'depth'> {
  readonly #deps: LiveReaderDeps;

  constructor(deps: LiveReaderDeps) {
    this.#deps = deps;
  }

  async prices(head: ReportedHead, read: PoolRead): Promise<PriceSnapshot> {
    const live = head.block.pending ? await this.#orNull(head, this.#deps.reader.prices(head, read)) : null;
    return live?.hasLivePrice ? live : this.#committed('prices', head, read.pool);
  }

  async depth(head: ReportedHead, prices: PriceSnapshot): Promise<DepthSnapshot> {
    const live = prices.block.pending ? await this.#orNull(head, this.#deps.reader.depth(head, prices)) : null;
    return live ?? this.#committed('depths', head, prices.pool);
  }

  /** Null for a pool that cannot be read in the block being built. */
  async #orNull<S>(head: ReportedHead, read: Promise<S>): Promise<S | null> {
    try {
      return await read;
    } catch (error) {
      if (error instanceof RpcFailure) this.#deps.heads.suspend(head, error);
      else if (!(error instanceof SnapshotError)) throw error;
      return null;
    }
  }

  async #committed<K extends keyof Kinds>(kind: K, head: ReportedHead, pool: ServedPool): Promise<Kinds[K]> {
    // A scheduled read stays within its budget.
    const options = head.block.reserve ? { at: committedHead(head) } : {};
    const outcome = (await this.#deps.committed.read(kind, [pool], options)).get(pool.address);
    if (!outcome) throw new SnapshotError('read_failed', 'the pool was not read');
    if (outcome instanceof SnapshotError) throw outcome;
    return outcome;
  }
}

/** The same object for the same head: pools that are read at one object share calls. */
const committedHead = perObject(({ block: { pending: _, ...block }, ...head }: ReportedHead): ReportedHead => {
  return { ...head, block };
});
