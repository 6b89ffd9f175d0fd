import type { Address } from 'viem';
import type { BlockRef, ReportedHead } from '../../chain/chain-rpc.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { BlockClock } from './block-clock.ts';
import type { CurveSnapshot } from './curve-snapshot.ts';
import { Gather } from './gather.ts';
import { guardPlan } from './guards/guard-plan.ts';
import type { GuardedSides, GuardJob, GuardProber } from './guards/guard-prober.ts';
import { guardedDepth, unguardedDepth } from './guards/guarded-depth.ts';
import type { ServedPool } from './pool-directory.ts';
import type { CurveRead, PoolReader } from './pool-reader.ts';
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
  readonly #guards: Gather<BlockRef, GuardJob, ReadonlyMap<Address, GuardedSides | Error>>;

  constructor(deps: ChainReadsDeps) {
    this.clock = deps.clock;
    this.#deps = deps;
    this.#curves = new Gather(MOMENT_MS, (head, pools) => this.#readCurves(head, pools));
    this.#guards = new Gather(MOMENT_MS, (block, jobs) => deps.prober.probe(block, jobs, this.deadline()));
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

  /**
   * The guard layer over a curve that is read or being read. When no node knows its block any more, both are read once
   * again at the next head. Throws as {@link curve}.
   */
  async depth(head: ReportedHead, read: SharedRead<CurveSnapshot>): Promise<DepthSnapshot> {
    const curve = await read.promise;
    if (curve instanceof SnapshotError) throw curve;
    try {
      return await this.#guard(curve);
    } catch (error) {
      if (!isHeadUnknown(error)) throw error;
      const next = await this.#headAfter(head);
      if (next.block.hash === curve.snapshot.block.hash) throw error;
      return this.#guard(await this.curve(next, curve.snapshot.pool));
    }
  }

  async #guard(read: CurveSnapshot): Promise<DepthSnapshot> {
    const { snapshot, curve } = read;
    if (!curve || guardPlan(snapshot.pool).kind === 'none') return unguardedDepth(read);
    const { pool, block } = snapshot;
    const sides = (await this.#guards.add(block, { pool, curve })).get(pool.address);
    if (!sides) throw new SnapshotError('read_failed', `${pool.address} is missing from its probes`);
    if (sides instanceof Error) throw sides;
    return guardedDepth(read, sides);
  }

  /** Reads at the head; when no node knows it any more, or it was another chain's, once again at the next one. */
  async #readCurves(head: ReportedHead, pools: readonly ServedPool[]): Promise<CurveRead> {
    try {
      return await this.#readCurvesAt(head, pools);
    } catch (error) {
      if (!isHeadUnknown(error)) throw error;
      if (this.#deps.hasOtherNodes) head.endpoint.breaker.open();
      const next = await this.#headAfter(head);
      if (next.block.hash === head.block.hash) throw error;
      return this.#readCurvesAt(next, pools);
    }
  }

  #headAfter(unknown: ReportedHead): Promise<ReportedHead> {
    this.clock.reject(unknown);
    return this.clock.head();
  }

  async #readCurvesAt(head: ReportedHead, pools: readonly ServedPool[]): Promise<CurveRead> {
    const read = await this.#deps.reader.read(head.block, pools, this.deadline());
    this.clock.confirm(head);
    return read;
  }
}

/** Whether nodes refused to read at a head: as a rule it was reorganised away, or is of another chain. */
const isHeadUnknown = (error: unknown): boolean =>
  error instanceof RpcFailure && (error.code === 'refused' || error.code === 'wrong_chain');
