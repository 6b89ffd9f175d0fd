import type { Address } from 'viem';
import type { BlockClock } from './block-clock.ts';
import type { CurveSnapshot } from './curve-snapshot.ts';
import { Gather } from './gather.ts';
import type { GuardedSides, GuardJob, GuardProber } from './guards/guard-prober.ts';
import { guardedDepth, probedGuards, unguardedDepth } from './guards/guarded-depth.ts';
import type { ServedPool } from './pool-directory.ts';
import type { CurveRead, PoolReader } from './pool-reader.ts';
import type { ReportedHead } from './rpc/chain-rpc.ts';
import { RpcFailure } from './rpc/rpc-failure.ts';
import type { SharedRead } from './shared-read.ts';
import { type DepthSnapshot, SnapshotError } from './types.ts';

export interface ChainReadsDeps {
  readonly clock: BlockClock<ReportedHead>;
  readonly reader: PoolReader;
  readonly prober: GuardProber;
  /** Longest read, over all nodes and calls. */
  readonly readTimeoutMs: number;
  /** Whether there is another node to ask when one tells of blocks that nobody knows. */
  readonly hasOtherNodes: boolean;
}

/** Reads that are asked for within this time share their calls. */
const MOMENT_MS = 2;

/** Reads the layers of snapshots; pools that are asked for together at one block share the calls of each layer. */
export class ChainReads {
  readonly clock: BlockClock<ReportedHead>;
  readonly #deps: ChainReadsDeps;
  readonly #curves: Gather<ReportedHead, ServedPool, CurveRead>;
  readonly #guards: Gather<ReportedHead, GuardJob, ReadonlyMap<Address, GuardedSides | Error>>;

  constructor(deps: ChainReadsDeps) {
    this.clock = deps.clock;
    this.#deps = deps;
    this.#curves = new Gather(MOMENT_MS, (head, pools) => this.#readCurves(head, pools));
    this.#guards = new Gather(MOMENT_MS, (head, jobs) => deps.prober.probe(head.block, jobs, this.deadline()));
  }

  /** The time that one read has. */
  deadline(): AbortSignal {
    return AbortSignal.timeout(this.#deps.readTimeoutMs);
  }

  /** @throws SnapshotError for the pool's sake, RpcFailure for the chain's */
  async curve(head: ReportedHead, pool: ServedPool): Promise<CurveSnapshot> {
    const read = await this.#curves.add(head, pool);
    const outcome = read.get(pool.address);
    if (outcome instanceof SnapshotError) throw outcome;
    if (!outcome) throw new SnapshotError('read_failed', `${pool.address} is missing from its read`);
    return outcome;
  }

  /** The guard layer over a curve that is read or being read. Throws as {@link curve}. */
  async depth(head: ReportedHead, read: SharedRead<CurveSnapshot>): Promise<DepthSnapshot> {
    const outcome = await read.promise;
    if (outcome instanceof SnapshotError) throw outcome;
    const { snapshot, curve } = outcome;
    if (!curve || probedGuards(snapshot.pool).length === 0) return unguardedDepth(outcome);
    const { address } = snapshot.pool;
    const sides = (await this.#guards.add(head, { pool: address, curve })).get(address);
    if (!sides) throw new SnapshotError('read_failed', `${address} is missing from its probes`);
    if (sides instanceof Error) throw sides;
    return guardedDepth(outcome, sides);
  }

  /** Reads at the head; when no node knows it any more, or it was another chain's, once again at the next one. */
  async #readCurves(head: ReportedHead, pools: readonly ServedPool[]): Promise<CurveRead> {
    try {
      return await this.#readCurvesAt(head, pools);
    } catch (error) {
      if (!(error instanceof RpcFailure) || (error.code !== 'refused' && error.code !== 'wrong_chain')) throw error;
      this.clock.reject(head);
      if (this.#deps.hasOtherNodes) head.endpoint.breaker.open();
      const next = await this.clock.head();
      if (next.block.hash === head.block.hash) throw error;
      return this.#readCurvesAt(next, pools);
    }
  }

  async #readCurvesAt(head: ReportedHead, pools: readonly ServedPool[]): Promise<CurveRead> {
    const read = await this.#deps.reader.read(head.block, pools, this.deadline());
    this.clock.confirm(head);
    return read;
  }
}
