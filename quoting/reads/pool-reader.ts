import type { BlockRef, ReportedHead } from '../../chain/chain-rpc.ts';
import { boundedCalls, type MulticallTarget, multicall, multicallWithCode } from '../../chain/contract-calls.ts';
import { isBlockRefusal, isRefusal, type RpcFailure } from '../../chain/rpc-failure.ts';
import type { LogUnknownError } from '../../chain/unknown-errors.ts';
import type { CurveSearch, SearchedCurve } from '../../protocol/curve-search.ts';
import type { TradingSides } from '../../protocol/guards/side-claim.ts';
import type { LazyCurve } from '../../protocol/layout.ts';
import { withinTransfers } from '../../protocol/transfers/transfer-limits.ts';
import type { Logger } from '../../runtime/logger.ts';
import { batched, type Outcomes } from '../calls/batched.ts';
import {
  decodePool,
  type PoolAnswers,
  type PoolRead,
  poolStubs,
  priceCalls,
  quoteCall,
  storageCall,
  wasQuoteSkipped,
  withDepth,
} from '../calls/pool-calls.ts';
import type { GuardProber } from '../guards/guard-prober.ts';
import type { TransferProver } from '../guards/transfer-prover.ts';
import type { GuardedCurve } from '../guards/unknown-guard-prober.ts';
import type { HeadTracker } from '../heads/head-tracker.ts';
import { guardPlan, type ServedPool } from '../pools/pool-directory.ts';
import { SnapshotError } from '../snapshot-error.ts';
import type { CurveSides, DepthSnapshot, PriceSnapshot } from '../types.ts';
import { CommittedQuotes } from './committed-quotes.ts';
import type { CurveSearcher } from './curve-searcher.ts';
import { ownFailure, readSides, type SharedReads, type SidesOutcome, UNSHARED, writeSides } from './shared-reads.ts';

export interface PoolReaderDeps {
  readonly target: MulticallTarget;
  readonly heads: Pick<HeadTracker<ReportedHead>, 'head' | 'reject'>;
  readonly prober: GuardProber;
  readonly searcher: CurveSearcher;
  readonly prover: TransferProver;
  /** Reads that processes share. Default: none. */
  readonly shared?: SharedReads | undefined;
  /** Whether the chain has a source of live prices. Default: no. */
  readonly hasSource?: boolean;
  /** Longest round, over all nodes and calls. */
  readonly readTimeoutMs: number;
  readonly logger: Logger;
  readonly logUnknown: LogUnknownError;
}

/** A curve, and the part of each side that trades. */
export interface FoundCurve {
  readonly curve: SearchedCurve;
  readonly trading: TradingSides;
}

/** How long quotes are not read after nodes did not apply overrides. */
const RETRY_OVERRIDES_MS = 60_000;

/**
 * Reads pools of one chain in rounds of calls, all at one block named by its hash:
 *
 * 1. Prices: storage and provider quotes under a state override, prices and balances by isolated calls. Now and then it
 *    also tries how much of the tokens moves.
 * 2. Curve, for a healthy pool whose curve is not computed from state and quote: simulated swaps.
 * 3. Depth, for a healthy pool with guards: how far they let each side trade.
 *
 * At a block that is being built, the same calls run with its number, time and overrides; nothing is tried again there,
 * since the committed block remains.
 *
 * Each pool goes through the rounds independently. Pools that need a round of the same block within 2 ms share calls.
 * What another process read at the block for all processes is not read again.
 */
export class PoolReader {
  readonly #deps: PoolReaderDeps;
  readonly #shared: SharedReads;
  readonly #committedQuotes = new CommittedQuotes();
  #noOverridesUntil = 0;

  constructor(deps: PoolReaderDeps) {
    this.#deps = deps;
    this.#shared = deps.shared ?? UNSHARED;
  }

  /** @throws SnapshotError when this pool alone was not read, RpcFailure when nodes did not give the block's state */
  async prices(head: ReportedHead, read: PoolRead): Promise<PriceSnapshot> {
    const answers = await this.#shared.find('answers', head.block, read.pool.address);
    if (answers === undefined) return this.#ownPrices(head, read);
    const found = this.#decode(read, head.block, answers as PoolAnswers);
    if (found instanceof SnapshotError) throw found;
    return found;
  }

  readonly #ownPrices = batched((head: ReportedHead, reads: readonly PoolRead[]) => this.#readPrices(head, reads));

  /**
   * Reads the depth of a pool whose prices are read at the head. If nodes now refuse that block, reads both once more
   * at the next head. Throws as {@link prices}.
   */
  async depth(head: ReportedHead, prices: PriceSnapshot): Promise<DepthSnapshot> {
    try {
      return withDepth(prices, await this.#tradingSides(prices));
    } catch (error) {
      if (head.block.pending) throw error;
      const next = await this.#headAfter(head, prices.block, error);
      const newer = await this.prices(next, { pool: prices.pool, before: prices });
      return withDepth(newer, await this.#tradingSides(newer));
    }
  }

  /** Reads at the head. If nodes refuse its block, reads once more at the next head, which another node may report. */
  async #readPrices(head: ReportedHead, reads: readonly PoolRead[]): Promise<Outcomes<PriceSnapshot>> {
    try {
      return await this.#readPricesAt(head, reads);
    } catch (error) {
      if (head.block.pending) throw error;
      if (isBlockRefusal(error) && this.#deps.target.rpc.endpoints.length > 1) head.endpoint?.breaker.open();
      return this.#readPricesAt(await this.#headAfter(head, head.block, error), reads);
    }
  }

  /** The head after one whose block nodes refused. @throws the error if it is not such a refusal or no head is newer */
  async #headAfter(head: ReportedHead, block: BlockRef, error: unknown): Promise<ReportedHead> {
    if (!isBlockRefusal(error)) throw error;
    this.#deps.heads.reject(head);
    const next = await this.#deps.heads.head();
    if (next.block.hash === block.hash) throw error;
    const { reserve } = head.block;
    return reserve ? { ...next, block: { ...next.block, reserve } } : next;
  }

  async #readPricesAt({ block }: ReportedHead, reads: readonly PoolRead[]): Promise<Outcomes<PriceSnapshot>> {
    const pools = reads.map(({ pool }) => pool);
    const addresses = pools.map(({ address }) => address);
    const read = this.#readAnswers(block, pools);
    const answers = await this.#shared.share('answers', block, addresses, read, JSON.stringify);
    return reads.map((each, index) => this.#decode(each, block, answers[index] ?? {}));
  }

  async #readAnswers(block: BlockRef, pools: readonly ServedPool[]): Promise<PoolAnswers[]> {
    const { target, searcher } = this.#deps;
    const signal = this.#deadline();
    const watched = pools.map(({ address }) => searcher.known(address)?.formulas?.code.accounts);
    const calls = pools.map((pool, index) => priceCalls(pool, watched[index]));
    const [states, answers, committedQuotes] = await Promise.all([
      this.#readStates(block, pools, signal),
      boundedCalls(target, block, calls, signal).catch((error) => this.#withoutPrices(block, pools, error, signal)),
      this.#committedQuotes.quotes(block, pools, (at, of) => this.#readStates(at, of, signal)),
    ]);
    const read = pools.map((_, index) => {
      const prices = answers[index]?.results;
      return { ...states[index], prices, watched: watched[index], committedQuote: committedQuotes[index] };
    });
    const transfers = await this.#deps.prover.prove(block, pools, read, signal);
    return read.map((each, index) => ({ ...each, transfers: transfers[index] }));
  }

  #decode(read: PoolRead, block: BlockRef, answers: PoolAnswers): PriceSnapshot | SnapshotError {
    const { hasSource, logger, logUnknown } = this.#deps;
    logUnknown(read.pool.address, answers.prices?.[0]);
    const found = decodePool(read, block, Math.floor(Date.now() / 1000), answers);
    if (!(found instanceof SnapshotError)) return hasSource ? { ...found, hasSource } : found;
    logger.warn({ err: found, pool: read.pool.address }, found.message);
    return found;
  }

  /**
   * Leaves pools without prices when the node refuses the call but still gives storage: their status shows it.
   *
   * @throws RpcFailure when the node now refuses storage, too: the block was reorganised away since storage was read
   */
  async #withoutPrices(
    block: BlockRef,
    pools: readonly ServedPool[],
    error: unknown,
    signal: AbortSignal,
  ): Promise<[]> {
    if (!isRefusal(error) || block.pending) throw error;
    await this.#readStorage(block, pools.slice(0, 1), signal);
    this.#deps.logger.warn({ err: error }, 'prices were not read');
    return [];
  }

  /**
   * Reads storage, and quotes where nodes apply overrides. Where they do not, decoding inverts prices instead.
   *
   * @throws RpcFailure when no node gave the block's storage
   */
  async #readStates(block: BlockRef, pools: readonly ServedPool[], signal: AbortSignal): Promise<PoolAnswers[]> {
    if (performance.now() < this.#noOverridesUntil) return this.#readStorage(block, pools, signal);
    try {
      return await this.#readStorageAndQuotes(block, pools, signal);
    } catch (error) {
      if (!isRefusal(error) || block.pending) throw error;
      const read = await this.#readStorage(block, pools, signal);
      this.#spareOverrides(error);
      return read;
    }
  }

  async #readStorage(block: BlockRef, pools: readonly ServedPool[], signal: AbortSignal): Promise<PoolAnswers[]> {
    const groups = pools.map((pool) => [storageCall(pool)]);
    return (await multicall(this.#deps.target, block, groups, signal)).map(([storage]) => ({ storage }));
  }

  /** Reads all storage of a call before its quotes, since a provider can burn the gas. */
  async #readStorageAndQuotes(block: BlockRef, pools: readonly ServedPool[], signal: AbortSignal) {
    const { target } = this.#deps;
    const code = poolStubs(pools);
    const groups = pools.map((pool) => [storageCall(pool), quoteCall(pool)]);
    const { isApplied, results } = await multicallWithCode(target, block, groups, code, signal);
    if (!isApplied) {
      this.#spareOverrides();
      return results.map(([storage]) => ({ storage }));
    }
    const skipped = pools.filter((_, index) => wasQuoteSkipped(results[index]?.[1]));
    const certain = skipped.map((pool) => [quoteCall(pool, true)]);
    const late = await multicall(target, block, certain, signal, code);
    return results.map(([storage, quote]) => ({ storage, quote: wasQuoteSkipped(quote) ? late.shift()?.[0] : quote }));
  }

  #spareOverrides(refusal?: RpcFailure): void {
    this.#noOverridesUntil = performance.now() + RETRY_OVERRIDES_MS;
    this.#deps.logger.warn({ err: refusal }, 'nodes do not apply state overrides: prices are inverted instead');
  }

  /** Finds how far the sides of a pool trade at the block of its prices. Shares the result where it takes calls. */
  async #tradingSides(prices: PriceSnapshot): Promise<CurveSides> {
    const { pool, curve } = prices;
    const isComputed = typeof curve === 'function' && guardPlan(pool).kind === 'none';
    if (!curve || isComputed) return this.#readSides(prices);
    const sides = await this.#sharedSides(prices, curve);
    if (sides instanceof SnapshotError) throw sides;
    return sides;
  }

  /** Takes the sides that another process read for all, or reads them and shares them. */
  async #sharedSides(prices: PriceSnapshot, source: LazyCurve | CurveSearch): Promise<SidesOutcome> {
    const { pool, block } = prices;
    const known = await this.#shared.find('sides', block, pool.address);
    if (known !== undefined) return readSides(known, source);
    const read = this.#readSides(prices).catch(ownFailure);
    const [sides] = await this.#shared.share('sides', block, [pool.address], Promise.all([read]), writeSides);
    return sides ?? read;
  }

  async #readSides(prices: PriceSnapshot): Promise<CurveSides> {
    const found = await this.curve(prices);
    return found ? { ...found.trading, curve: found.curve } : { bids: [], asks: [] };
  }

  /**
   * Finds the curve of a pool at the block of its prices, and the part that trades. Further rounds belong here. Null
   * unless the pool is healthy. Throws as {@link prices}.
   */
  async curve({ pool, block, curve: source, limits }: PriceSnapshot): Promise<FoundCurve | null> {
    if (!source) return null;
    const curve =
      typeof source === 'function' ? source() : await this.#deps.searcher.find(block, pool, source, this.#deadline());
    return { curve, trading: withinTransfers(curve, await this.#withinGuards(block, { pool, curve }), limits) };
  }

  /** The part of a curve that the pool's guards let trade. */
  async #withinGuards(block: BlockRef, guarded: GuardedCurve): Promise<TradingSides> {
    const { bids, asks } = guarded.curve;
    const { kind } = guardPlan(guarded.pool);
    if (kind === 'none') return { bids: bids.levels, asks: asks.levels };
    if (kind === 'probed') return this.#deps.prober.probe(block, guarded, this.#deadline());
    return this.#evaluate(block, guarded);
  }

  readonly #evaluate = batched((block: BlockRef, pools: readonly GuardedCurve[]) =>
    this.#deps.prober.evaluate(block, pools, this.#deadline()),
  );

  #deadline(): AbortSignal {
    return AbortSignal.timeout(this.#deps.readTimeoutMs);
  }
}
