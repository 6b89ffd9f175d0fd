import type { Address } from 'viem';
import type { LayoutAdapter } from '../../protocol/layout.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import type { ProviderQuote } from '../../protocol/pool-state.ts';
import type { Logger } from '../../runtime/logger.ts';
import { buildCurveSnapshot, type CurveSnapshot } from './curve-snapshot.ts';
import { decodePoolRead, poolReadCalls } from './pool-calls.ts';
import type { ServedPool } from './pool-directory.ts';
import { ProviderQuotes } from './provider-quotes.ts';
import { type CallResult, type MulticallTarget, multicall } from './rpc/multicall.ts';
import { RpcFailure } from './rpc/rpc-failure.ts';
import { type BlockRef, SnapshotError } from './types.ts';

export type CurveRead = ReadonlyMap<Address, CurveSnapshot | SnapshotError>;

const layoutOf = (pool: ServedPool): LayoutAdapter => layoutAdapter(pool.layout);

/** Reads sets of pools of one chain: state, prices and balances through Multicall3, quotes under a state override. */
export class PoolReader {
  readonly #target: MulticallTarget;
  readonly #quotes: ProviderQuotes;
  readonly #logger: Logger;

  constructor(target: MulticallTarget, logger: Logger) {
    this.#target = target;
    this.#quotes = new ProviderQuotes(target);
    this.#logger = logger;
  }

  /**
   * @returns an entry for each pool; a pool that alone could not be read is a `SnapshotError`
   * @throws RpcFailure when no node gave the block's state
   */
  async read(block: BlockRef, pools: readonly ServedPool[], signal?: AbortSignal): Promise<CurveRead> {
    const groups = pools.map((pool) => poolReadCalls(pool, layoutOf(pool)));
    const [results, told] = await Promise.all([
      multicall(this.#target, block, groups, undefined, signal),
      this.#quotes.read(block, pools, layoutOf, signal).catch(rpcFailure),
    ]);
    const quotes = told instanceof RpcFailure ? this.#noQuotes(told) : told;
    const readAt = Math.floor(Date.now() / 1000);
    return new Map(
      pools.map((pool, index) => [
        pool.address,
        this.#snapshot(pool, block, readAt, results[index] ?? [], quotes.get(pool.address)),
      ]),
    );
  }

  /** Quotes are a help, not a need: prices can be inverted. */
  #noQuotes(failure: RpcFailure): ReadonlyMap<Address, ProviderQuote> {
    if (failure.code === 'refused') this.#quotes.unsupported();
    this.#logger.warn({ err: failure }, 'provider quotes were not read: prices are inverted instead');
    return new Map();
  }

  #snapshot(
    pool: ServedPool,
    block: BlockRef,
    readAt: number,
    results: readonly CallResult[],
    quote: ProviderQuote | undefined,
  ): CurveSnapshot | SnapshotError {
    try {
      const layout = layoutOf(pool);
      return buildCurveSnapshot({ pool, layout, block, readAt, read: decodePoolRead(pool, layout, results), quote });
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error;
      this.#logger.warn({ err: error, pool: pool.address }, error.message);
      return error;
    }
  }
}

function rpcFailure(error: unknown): RpcFailure {
  if (error instanceof RpcFailure) return error;
  throw error;
}
