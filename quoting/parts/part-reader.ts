import { isLaterView, OtherPart } from '../../chain/part-view.ts';
import { isSameState, type PartView } from '../../chain/pending-state.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { PoolRead } from '../calls/decode-pool.ts';
import { committedReads, type ReadCommitted } from '../live/committed-reads.ts';
import type { LiveHeads } from '../live/live-heads.ts';
import type { ServedPool } from '../pools/pool-directory.ts';
import { isGuarded } from '../reads/pool-entries.ts';
import type { PoolGas } from '../reads/pool-gas.ts';
import type { PoolReader } from '../reads/pool-reader.ts';
import type { SnapshotCache } from '../reads/snapshot-cache.ts';
import { isExhausted, SnapshotError } from '../snapshot-error.ts';
import type { DepthSnapshot, HeadContext, Kinds, PriceSnapshot, QuoteKind, Snapshot } from '../types.ts';
import type { PassedReads } from './passed-reads.ts';
import type { SealedChecks } from './sealed-checks.ts';

export interface PartReaderDeps {
  /** Reads pools of the nodes that follow parts. */
  readonly reader: Pick<PoolReader, 'prices' | 'depth'>;
  /** The snapshots at the committed head. */
  readonly committed: Pick<SnapshotCache, 'read'>;
  readonly heads: Pick<LiveHeads, 'head' | 'sourceAge'>;
  /** Takes note of another part than a call was to run on. */
  readonly note: (view: PartView) => void;
  /** Whether parts of a node are left out of quotes since sealed blocks were others. */
  readonly sealed: Pick<SealedChecks, 'isDivergent'>;
  /** Whether a pool burns gas. Default: none does. */
  readonly gas?: Pick<PoolGas, 'isCostly'> | undefined;
  /** Counts in how many reads the part passed. */
  readonly passed: Pick<PassedReads, 'add'>;
}

/** Reads at a head. `isNewer`: the head is another one than what was read before is of. */
type ReadAt<S> = (at: HeadContext, isNewer: boolean) => Promise<S>;

/**
 * Reads pools after the newest part of the block being built. All calls of a snapshot show the same part, which may be
 * later than the head's. Where a newer one came between them, they are made once more, on that; then the snapshot is of
 * the committed head, and provisional. That of a pool that burns gas is of the committed head, too.
 * While the parts of a node are divergent, prices are read there only to see whether they agree again.
 */
export class PartReader implements Pick<PoolReader, 'prices' | 'depth'> {
  readonly #deps: PartReaderDeps;
  readonly #committed: ReadCommitted;
  /** Pools that share calls share what these show. */
  readonly #noted = new WeakSet<PartView>();

  constructor(deps: PartReaderDeps) {
    this.#deps = deps;
    this.#committed = committedReads(deps.committed);
  }

  /** Throws as the reader does, where the budget of a scheduled read is exhausted. */
  prices(head: HeadContext, read: PoolRead): Promise<PriceSnapshot> {
    const { gas, reader } = this.#deps;
    if (!head.block.pending || gas?.isCostly(read.pool.address)) return this.#committed('prices', head, read.pool);
    return this.#read('prices', { head, pool: read.pool }, (at) => reader.prices(at, read));
  }

  depth(head: HeadContext, prices: PriceSnapshot): Promise<DepthSnapshot> {
    const { reader } = this.#deps;
    const { pool, isProvisional } = prices;
    if (!prices.block.pending) return this.#committed('depths', head, pool, isProvisional);
    return this.#read('depths', { head, pool }, async (at, isNewer) =>
      reader.depth(at, isNewer ? await reader.prices(at, { pool, before: prices }) : prices),
    );
  }

  async #read<K extends QuoteKind>(
    kind: K,
    { head, pool }: { readonly head: HeadContext; readonly pool: ServedPool },
    read: ReadAt<Kinds[K]>,
  ): Promise<Kinds[K]> {
    const { heads, sealed } = this.#deps;
    const count = (hasPassed: boolean) => {
      if (isGuarded(pool)) this.#deps.passed.add(hasPassed);
    };
    try {
      const snapshot = await this.#readAt(head, false, read).catch((error) => this.#again(head, error, read));
      if (sealed.isDivergent(snapshot.block.pending?.part?.view.node)) return await this.#committed(kind, head, pool);
      if (kind === 'depths') count(false);
      return { ...snapshot, ...heads.sourceAge(snapshot.block) };
    } catch (error) {
      if (error instanceof OtherPart) count(true);
      if (isExhausted(error)) throw error;
      const isOwn = error instanceof SnapshotError;
      if (!isOwn && (!(error instanceof RpcFailure) || error.code === 'exhausted')) throw error;
      return this.#committed(kind, head, pool, !isOwn);
    }
  }

  /** Reads at a head, and notes the later part that the calls may have shown instead. */
  async #readAt<S extends Snapshot>(head: HeadContext, isNewer: boolean, read: ReadAt<S>): Promise<S> {
    const snapshot = await read(head, isNewer);
    const [shown, asked] = [snapshot, head].map(({ block }) => block.pending?.part?.view);
    if (!shown || !asked || !isLaterView(shown, asked)) return snapshot;
    this.#note(shown);
    const { block } = await this.#deps.heads.head();
    // It may know which part of the block that is.
    return isSameState(block, snapshot.block) ? { ...snapshot, block: { ...snapshot.block, ...block } } : snapshot;
  }

  #note(view: PartView): void {
    if (this.#noted.has(view)) return;
    this.#noted.add(view);
    this.#deps.note(view);
  }

  /** Reads on the part that a call showed, if it is used. @throws the error if it is not */
  async #again<S extends Snapshot>({ reserve, ...head }: HeadContext, error: unknown, read: ReadAt<S>): Promise<S> {
    if (!(error instanceof OtherPart)) throw error;
    this.#note(error.view);
    const next = await this.#deps.heads.head();
    const { pending } = next.block;
    if (!pending || pending.digest === head.block.pending?.digest) throw error;
    return this.#readAt({ ...next, reserve }, true, read);
  }
}
