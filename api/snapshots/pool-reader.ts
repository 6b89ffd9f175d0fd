import type { Address } from 'viem';
import type { CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import type { Logger } from '../../runtime/logger.ts';
import { buildCurveSnapshot, type CurveSnapshot } from './curve-snapshot.ts';
import { decodePoolRead, poolReadCalls } from './pool-calls.ts';
import type { ServedPool } from './pool-directory.ts';
import type { MulticallTarget } from './rpc/multicall.ts';
import { RpcFailure } from './rpc/rpc-failure.ts';
import { boundedCalls } from './rpc/send-bounded-calls.ts';
import { type AdaptedPool, type StateRead, StateReader } from './state-reader.ts';
import { type BlockRef, SnapshotError } from './types.ts';

export type CurveRead = ReadonlyMap<Address, CurveSnapshot | SnapshotError>;

/**
 * Reads sets of pools of one chain: storage and provider quotes under a state override; prices and balances, which come
 * from anyone's contracts, by calls that cannot spoil each other.
 */
export class PoolReader {
  readonly #target: MulticallTarget;
  readonly #states: StateReader;
  readonly #logger: Logger;

  constructor(target: MulticallTarget, logger: Logger) {
    this.#target = target;
    this.#states = new StateReader(target, logger);
    this.#logger = logger;
  }

  /**
   * @returns an entry for each pool; a pool that alone could not be read is a `SnapshotError`
   * @throws RpcFailure when no node gave the block's state
   */
  async read(block: BlockRef, pools: readonly ServedPool[], signal?: AbortSignal): Promise<CurveRead> {
    const adapted = pools.map((pool) => ({ pool, layout: layoutAdapter(pool.layout) }));
    const groups = adapted.map(({ pool, layout }) => poolReadCalls(pool, layout));
    const [states, answers] = await Promise.all([
      this.#states.read(block, adapted, signal),
      boundedCalls(this.#target, block, groups, signal).catch((error: unknown) => this.#withoutPrices(error)),
    ]);
    const readAt = Math.floor(Date.now() / 1000);
    return new Map(
      adapted.map((pool, index) => [
        pool.pool.address,
        this.#snapshot(pool, block, readAt, states[index], answers[index]?.results ?? []),
      ]),
    );
  }

  /** A node that gives storage at this block and refuses this call will not know prices: their pools say so. */
  #withoutPrices(error: unknown): [] {
    if (!(error instanceof RpcFailure) || error.code !== 'refused') throw error;
    this.#logger.warn({ err: error }, 'prices were not read');
    return [];
  }

  #snapshot(
    { pool, layout }: AdaptedPool,
    block: BlockRef,
    readAt: number,
    state: StateRead | undefined,
    results: readonly CallResult[],
  ): CurveSnapshot | SnapshotError {
    try {
      const read = decodePoolRead(pool, layout, state?.storage, results);
      return buildCurveSnapshot({ pool, layout, block, readAt, read, quote: state?.quote });
    } catch (cause) {
      // What is odd about one pool is no reason to keep the others from their clients.
      const error =
        cause instanceof SnapshotError ? cause : new SnapshotError('read_failed', 'a pool makes no sense', { cause });
      this.#logger.warn({ err: error, pool: pool.address }, error.message);
      return error;
    }
  }
}
