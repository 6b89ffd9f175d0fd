import { boundedCalls } from '../../chain/isolated-calls.ts';
import { type MulticallTarget, multicall } from '../../chain/multicall.ts';
import { feeCalls, readFees } from '../../chain/part-view.ts';
import { timeIn } from '../../chain/pending-state.ts';
import type { BlockRef, ReadContext } from '../../chain/read-context.ts';
import { isRefusal, lacksOverrides } from '../../chain/rpc-failure.ts';
import type { BoundedCall } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { SimulatedSwap } from '../../protocol/guards/simulated-swap.ts';
import type { Logger } from '../../runtime/logger.ts';
import { OutageLog } from '../../runtime/outage-log.ts';
import type { OtherAnswers } from '../calls/answers-digest.ts';
import type { PoolAnswers } from '../calls/decode-pool.ts';
import {
  poolStubs,
  priceCalls,
  quoteCall,
  stopLossCalls,
  storageCall,
  velocityCalls,
  wasQuoteSkipped,
} from '../calls/pool-calls.ts';
import { priceCall } from '../calls/probe-calls.ts';
import { expectedSwaps } from '../guards/pool-claim.ts';
import type { TransferProver } from '../guards/transfer-prover.ts';
import type { ServedPool } from '../pools/pool-directory.ts';
import { CommittedAnswers } from './committed-answers.ts';
import type { CurveSearcher } from './curve-searcher.ts';
import type { GasKind, MadeCall, PoolGas } from './pool-gas.ts';
import type { ShownPart } from './shown-part.ts';

export interface AnswersReaderDeps {
  readonly target: MulticallTarget;
  readonly searcher: Pick<CurveSearcher, 'known'>;
  readonly prover: TransferProver;
  /** Takes what the accounts of fees hold at a committed block, wei. Absent: that is not read. */
  readonly onFees?: ((block: BlockRef, feesWei: bigint) => void) | undefined;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/**
 * Reads what the prices of pools are decoded from: storage and provider quotes under a state override, prices and
 * balances by isolated calls. Now and then it also tries how much of the tokens moves.
 */
export class AnswersReader {
  readonly #deps: AnswersReaderDeps;
  readonly #committed = new CommittedAnswers();
  readonly #inversion: OutageLog;

  constructor(deps: AnswersReaderDeps) {
    this.#deps = deps;
    this.#inversion = new OutageLog(deps.logger, {
      begin: 'nodes do not apply state overrides: prices are inverted instead',
      end: 'nodes apply state overrides again',
    });
  }

  /**
   * Reads pools in shared calls.
   *
   * @param part what need not be read: all but their own prices of pools that a call showed with the part
   * @returns the answers in the order of the pools
   * @throws RpcFailure when nodes did not give the block's state
   */
  async read(
    context: ReadContext,
    pools: readonly ServedPool[],
    part?: Pick<ShownPart, 'othersAtHead' | 'others' | 'gas'>,
  ): Promise<PoolAnswers[]> {
    const { searcher, prover } = this.#deps;
    const found = pools.map(({ address }) => searcher.known(address));
    const watched = found.map((known) => known?.formulas?.code.accounts);
    const shown = pools.map((pool, index) => part?.othersAtHead(pool, watched[index]));
    const unread = pools.filter((_, index) => !shown[index]);
    const calls = pools.map((pool, index): OwnCalls => {
      const others = shown[index];
      if (!others) return { kind: 'all', prices: priceCalls(pool, watched[index]), swaps: [] };
      // They are simulated once prices are known unless they are these.
      const swaps = expectedSwaps(pool, others, found[index], timeIn(context.block));
      return { kind: 'rest', prices: [priceCall(pool)], swaps };
    });
    const [states, own, committed] = await Promise.all([
      this.#readStates(context, unread, !needsOverrides(context)),
      this.#readOwn(context, pools, calls, part?.gas),
      this.#committed.answers(context, pools, (at, of) => this.#readStates(at, of, true)),
    ]);
    const others = await Promise.all(pools.map((pool, index) => (shown[index] ? part?.others(pool) : undefined)));
    const read = pools.map((_, index): PoolAnswers => {
      const { prices, simulated } = own[index] ?? {};
      const known = others[index];
      if (known) return { ...withPrices(known, prices), simulated };
      const { storage, quote: committedQuote } = committed[index] ?? {};
      return { ...(storage && { storage }), ...states.shift(), prices, watched: watched[index], committedQuote };
    });
    const transfers = await prover.prove(context, pools, read);
    return read.map((each, index) => ({ ...each, transfers: transfers[index] }));
  }

  /** Makes the calls of pools that run their own code: those for prices before swaps, which take more gas. */
  async #readOwn(
    context: ReadContext,
    pools: readonly ServedPool[],
    calls: readonly OwnCalls[],
    gas: PoolGas | undefined,
  ): Promise<Pick<PoolAnswers, 'prices' | 'simulated'>[]> {
    const packed = pools.map(({ address }, index) => {
      const { kind, prices, swaps } = calls[index] as OwnCalls;
      const pack = (of: readonly BoundedCall[]) => gas?.packed(kind, address, of) ?? of;
      return { prices: pack(prices), swaps: pack(swaps) };
    });
    const ofPrices = packed.map(({ prices }) => prices);
    const ofSwaps = packed.flatMap(({ swaps }) => swaps).map((call) => [call]);
    const call = () => boundedCalls(this.#deps.target, context, [...ofPrices, ...ofSwaps]);
    const { answers } = await call().catch((error) => this.#callAgain(context, pools, error, call));
    const swapAnswers = answers.slice(pools.length).values();
    return pools.map(({ address }, index) => {
      const { kind, prices: priceCalls, swaps } = calls[index] as OwnCalls;
      const prices = answers[index]?.results;
      const simulated = swaps.flatMap((call) =>
        (swapAnswers.next().value?.results ?? []).map((result) => ({ call, result })),
      );
      const made = priceCalls.flatMap((call, at) => (prices?.[at] ? [{ call, result: prices[at] }] : []));
      gas?.noteCalls(kind, address, [...made, ...simulated]);
      return { prices, simulated: simulated.map(withoutGas) };
    });
  }

  /**
   * Makes the calls for prices again where nodes refuse them but give storage: they may not have had the block before.
   * Leaves pools without prices when nodes refuse them again: their status shows it.
   *
   * @throws RpcFailure when nodes now refuse storage, too: the block was reorganised away since storage was read
   */
  async #callAgain<T extends { readonly answers: unknown }>(
    context: ReadContext,
    pools: readonly ServedPool[],
    error: unknown,
    call: () => Promise<T>,
  ): Promise<T | { readonly answers: [] }> {
    if (!isRefusal(error) || context.block.pending) throw error;
    await this.#readStorage(context, pools.slice(0, 1));
    return call().catch((failure): { readonly answers: [] } => {
      if (!isRefusal(failure)) throw failure;
      this.#deps.logger.warn({ err: failure }, 'prices were not read');
      return { answers: [] };
    });
  }

  /**
   * Reads quotes where nodes apply overrides, and storage unless that is known. Where nodes do not apply overrides,
   * decoding inverts prices instead.
   *
   * @throws RpcFailure when no node gave the block's state
   */
  async #readStates(context: ReadContext, pools: readonly ServedPool[], withStorage: boolean): Promise<PoolAnswers[]> {
    if (pools.length === 0) return [];
    try {
      const read = await this.#readStorageAndQuotes(context, pools, withStorage);
      this.#inversion.worked();
      return read;
    } catch (error) {
      // In a block that is being built, this fails, and the committed block remains.
      if (!lacksOverrides(error) || needsOverrides(context)) throw error;
      const read = await this.#readStorage(context, pools);
      this.#inversion.failed(error);
      return read;
    }
  }

  async #readStorage(context: ReadContext, pools: readonly ServedPool[]): Promise<PoolAnswers[]> {
    const groups = pools.map((pool) => [storageCall(pool)]);
    const results = await multicall(this.#deps.target, context, groups);
    return results.map(([storage]) => ({ storage }));
  }

  /**
   * Reads all storage of a call before its quotes, since a provider can burn the gas. In a block that is being built it
   * also reads what depth takes of stop losses, which spares a call for each change there; after a part all state of
   * guards, since the next part may come before a further call.
   */
  async #readStorageAndQuotes(
    context: ReadContext,
    pools: readonly ServedPool[],
    withStorage: boolean,
  ): Promise<PoolAnswers[]> {
    const { target, onFees } = this.#deps;
    const { block } = context;
    const { pending } = block;
    // There, nodes that refuse them are asked again: live prices are suspended meanwhile, more briefly.
    const needs = needsOverrides(context) ? undefined : 'quotes';
    const stubbed = { ...context, code: poolStubs(pools), needs } as const;
    const guards = pools.map((pool) => ({
      stopLoss: pending ? stopLossCalls(pool) : [],
      velocity: pending?.part ? velocityCalls(pool) : undefined,
    }));
    const groups = pools.map((pool, index) => {
      const { stopLoss = [], velocity = [] } = guards[index] ?? {};
      return [...(withStorage ? [storageCall(pool)] : []), ...stopLoss, ...velocity, quoteCall(pool)];
    });
    const showFees = pending ? undefined : onFees;
    const results = await multicall(target, stubbed, [...groups, showFees ? feeCalls(target.multicall3) : []]);
    const feesWei = readFees(results.pop() ?? []);
    if (feesWei !== undefined) showFees?.(block, feesWei);
    const skipped = pools.filter((_, index) => wasQuoteSkipped(results[index]?.at(-1)));
    const late = await multicall(
      target,
      stubbed,
      skipped.map((pool) => [quoteCall(pool, true)]),
    );
    return results.map((group, index) => {
      const rest = [...group];
      const storage = withStorage ? rest.shift() : undefined;
      const quote = rest.pop();
      const { stopLoss = [], velocity } = guards[index] ?? {};
      return {
        ...(storage && { storage }),
        quote: wasQuoteSkipped(quote) ? late.shift()?.[0] : quote,
        ...(stopLoss.length > 0 && { stopLoss: rest.slice(0, stopLoss.length) }),
        ...(velocity && { velocity: rest.slice(stopLoss.length) }),
      };
    });
  }
}

/** Calls of a pool that run its own code. */
interface OwnCalls {
  readonly kind: GasKind;
  readonly prices: readonly BoundedCall[];
  readonly swaps: readonly BoundedCall[];
}

/** A swap as it is shared with other processes. */
const withoutGas = ({ call: { data }, result: { success, data: returned } }: MadeCall): SimulatedSwap => ({
  data,
  result: { success, data: returned },
});

/** Whether the state to read at is one of overrides: not at a committed block, nor after a part. */
const needsOverrides = ({ block: { pending } }: ReadContext): boolean => pending !== undefined && !pending.part;

/** Adds prices to what a call showed besides. Sides are found again: they may be others at other prices. */
const withPrices = ({ others, velocity, ...answers }: OtherAnswers, prices: PoolAnswers['prices']): PoolAnswers => ({
  ...answers,
  ...(velocity && { velocity: [...velocity] }),
  prices: prices && [...prices, ...others],
});
