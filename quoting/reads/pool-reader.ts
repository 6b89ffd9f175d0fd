import type { ReportedHead } from '../../chain/chain-rpc.ts';
import type { MulticallTarget } from '../../chain/multicall.ts';
import { isSameState } from '../../chain/pending-state.ts';
import type { BlockRef, ReadContext } from '../../chain/read-context.ts';
import { isBlockRefusal } from '../../chain/rpc-failure.ts';
import type { LogUnknownError } from '../../chain/unknown-errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { pause } from '../../runtime/pause.ts';
import { withTimeLimit } from '../../runtime/time-limit.ts';
import { batched, type Outcomes } from '../calls/batched.ts';
import { decodePool, type PoolAnswers, type PoolRead, withDepth } from '../calls/decode-pool.ts';
import type { HeadTracker } from '../heads/head-tracker.ts';
import { SnapshotError } from '../snapshot-error.ts';
import type { DepthSnapshot, HeadContext, PriceSnapshot } from '../types.ts';
import type { AnswersReader } from './answers-reader.ts';
import { type SharedReads, UNSHARED } from './shared-reads.ts';
import type { ShownAnswers } from './shown-answers.ts';
import { ShownPart } from './shown-part.ts';
import type { FoundCurve, SidesReader } from './sides-reader.ts';

export interface PoolReaderDeps {
  readonly target: Pick<MulticallTarget, 'rpc'>;
  readonly answers: Pick<AnswersReader, 'read'>;
  readonly sides: Pick<SidesReader, 'read' | 'curve'>;
  /** Default: by the layouts of pools. */
  readonly decode?: typeof decodePool;
  readonly heads: Pick<HeadTracker<ReportedHead>, 'head' | 'caughtUp' | 'confirm' | 'reject'>;
  /** Reads that processes share. Default: none. */
  readonly shared?: SharedReads | undefined;
  /** What calls showed of pools with parts. Default: all is read. */
  readonly shownAnswers?: Pick<ShownAnswers, 'at' | 'others' | 'othersSoon' | 'note' | 'gas'> | undefined;
  /** Whether the chain has a source of live prices. Default: no. */
  readonly hasSource?: boolean;
  /** Takes each pool that was read, or that another process read for all. */
  readonly onRead?: ((snapshot: PriceSnapshot) => void) | undefined;
  /** Longest round, over all nodes and calls. */
  readonly readTimeoutMs: number;
  readonly logger: Pick<Logger, 'warn'>;
  readonly logUnknown: LogUnknownError;
  /** Unix milliseconds. */
  readonly wallClock: Clock;
}

/** A node that is behind has a block after this time, as a rule. */
const BEHIND_MS = 200;
/** A read ends after so many refusals of blocks. */
const MAX_REFUSALS = 4;

/**
 * Reads pools of one chain in rounds of calls, all at one block named by its hash:
 *
 * 1. Prices: `AnswersReader`.
 * 2. Curve, for a healthy pool whose curve is not computed from state and quote: simulated swaps.
 * 3. Depth, for a healthy pool with guards: how far they let each side trade.
 *
 * At a block that is being built, the same calls run with its number, time and state overrides; nothing is tried again
 * there, since the committed block remains. Prices after a part may be after a later one of its block: `ShownPart`.
 *
 * Each pool goes through the rounds independently. Pools that need a round of the same block within 2 ms share calls.
 * What another process read at the block for all processes is not read again.
 */
export class PoolReader {
  readonly #deps: PoolReaderDeps & { readonly shared: SharedReads };

  constructor(deps: PoolReaderDeps) {
    this.#deps = { ...deps, shared: deps.shared ?? UNSHARED };
  }

  /** @throws SnapshotError when this pool alone was not read, RpcFailure when nodes did not give the block's state */
  async prices(head: HeadContext, read: PoolRead): Promise<PriceSnapshot> {
    const answers = await this.#deps.shared.find('answers', head.block, read.pool.address);
    if (answers === undefined) return this.#ownPrices(head, read);
    this.#deps.heads.confirm(head.block);
    this.#deps.shownAnswers?.note(head.block, read.pool, answers as PoolAnswers);
    const found = this.#decode(read, head.block, answers as PoolAnswers);
    if (found instanceof SnapshotError) throw found;
    return found;
  }

  readonly #ownPrices = batched((head: HeadContext, reads: readonly PoolRead[]) => this.#readPrices(head, reads));

  /**
   * Reads the depth of a pool whose prices are read at the head. If nodes now refuse that block, reads both again at
   * the next one, as {@link prices} does. Throws as that.
   */
  depth(head: HeadContext, prices: PriceSnapshot): Promise<DepthSnapshot> {
    let newest = prices;
    return this.#following(
      head,
      async (at) => withDepth(newest, await this.#deps.sides.read(atBlockOf(newest, at), newest)),
      async (next) => {
        if (!isSameState(next.block, newest.block))
          newest = await this.prices(next, { pool: newest.pool, before: newest });
      },
    );
  }

  /**
   * Finds the curve of a pool at the block of its prices, and the part that trades. Null unless the pool is healthy.
   * Throws as {@link prices}.
   */
  curve(head: HeadContext, prices: PriceSnapshot): Promise<FoundCurve | null> {
    return this.#deps.sides.curve(atBlockOf(prices, head), prices);
  }

  #readPrices(head: HeadContext, reads: readonly PoolRead[]): Promise<Outcomes<PriceSnapshot>> {
    return this.#following(head, (at) => this.#readPricesAt(at, reads));
  }

  /**
   * Reads at the head. If nodes refuse its block, reads at the next one, which another node may report: once more at
   * the same block, and at up to three others, as in a reorganisation.
   *
   * @param prepare reads first what the read needs of a next head
   */
  async #following<T>(
    head: HeadContext,
    read: (at: HeadContext) => Promise<T>,
    prepare?: (next: HeadContext) => Promise<void>,
  ): Promise<T> {
    let at = head;
    for (let refusals = 1; ; refusals += 1) {
      try {
        return await read(at);
      } catch (error) {
        if (at.block.pending || refusals === MAX_REFUSALS) throw error;
        const next = await this.#headAfter(at, error);
        if (refusals > 1 && next.block.hash === at.block.hash) throw error;
        at = next;
      }
      await prepare?.(at);
    }
  }

  /** The head after one whose block nodes refused, or the same where they report it again. @throws other errors */
  async #headAfter({ reserve, ...head }: HeadContext, error: unknown): Promise<HeadContext> {
    if (!isBlockRefusal(error)) throw error;
    const { heads, target } = this.#deps;
    const hasGivenWay = heads.reject(head);
    // It reports a block that it does not have.
    if (hasGivenWay && target.rpc.endpoints.length > 1) head.endpoint?.breaker.open();
    // It may be the head of another process, to which nodes come a moment later, or one that another node gave.
    const hasCaughtUp = await heads.caughtUp();
    if (!hasGivenWay && !hasCaughtUp) await pause(BEHIND_MS);
    const next = await heads.head();
    return { ...next, reserve };
  }

  async #readPricesAt(head: HeadContext, reads: readonly PoolRead[]): Promise<Outcomes<PriceSnapshot>> {
    const { block } = head;
    const known = new Map<PoolRead, PoolAnswers>();
    for (const each of reads) {
      const answers = this.#deps.shownAnswers?.at(block, each.pool);
      if (answers) known.set(each, answers);
    }
    const unread = reads.filter((each) => !known.has(each));
    const [read] = await Promise.all([this.#readAnswers(head, unread), this.#shareKnown(block, known)]);
    const found = read.answers.values();
    return reads.map((each) => {
      const answers = known.get(each);
      if (answers) return this.#decode(each, block, answers);
      return this.#decode(each, read.shown, found.next().value ?? {});
    });
  }

  /** Reads pools. `shown`: the block that the answers are of. */
  async #readAnswers(head: HeadContext, reads: readonly PoolRead[]) {
    const { answers: reader, heads, shared, shownAnswers, readTimeoutMs } = this.#deps;
    const { block } = head;
    if (reads.length === 0) return { shown: block, answers: [] };
    const pools = reads.map(({ pool }) => pool);
    const part = new ShownPart(block, shownAnswers);
    const read = withTimeLimit(readTimeoutMs, (signal) =>
      reader.read({ ...head, block: part.block, signal }, pools, part),
    );
    const isAt = () => isSameState(part.shown, block);
    const answers = await shared.share(
      { kind: 'answers', block, pools: pools.map(({ address }) => address), isAt },
      read,
      JSON.stringify,
    );
    heads.confirm(block);
    const { shown } = part;
    for (const [index, pool] of pools.entries()) shownAnswers?.note(shown, pool, answers[index] ?? {});
    return { shown, answers };
  }

  /** Other processes wait for what this one need not read, too. */
  async #shareKnown(block: BlockRef, known: ReadonlyMap<PoolRead, PoolAnswers>): Promise<void> {
    if (known.size === 0) return;
    const pools = [...known.keys()].map(({ pool }) => pool.address);
    await this.#deps.shared.share(
      { kind: 'answers', block, pools },
      Promise.resolve([...known.values()]),
      JSON.stringify,
    );
  }

  #decode(read: PoolRead, block: BlockRef, answers: PoolAnswers): PriceSnapshot | SnapshotError {
    const { decode = decodePool, hasSource, onRead, logger, logUnknown, wallClock } = this.#deps;
    logUnknown(read.pool.address, answers.prices?.[0]);
    const found = decode(read, block, Math.floor(wallClock() / 1000), answers);
    if (!(found instanceof SnapshotError)) {
      onRead?.(found);
      return hasSource ? { ...found, hasSource } : found;
    }
    logger.warn({ err: found, pool: read.pool.address }, found.message);
    return found;
  }
}

/** The block of prices with the budget of a head: they may have been read at another block, or with another budget. */
const atBlockOf = ({ block }: PriceSnapshot, head: HeadContext): ReadContext =>
  isSameState(block, head.block) ? head : { ...head, block };
