import { LRUCache } from 'lru-cache';
import { type Address, type Hex, numberToHex } from 'viem';
import { boundedCalls, type ChainTarget } from '../../chain/isolated-calls.ts';
import type { BlockRef, ReadContext } from '../../chain/read-context.ts';
import { readBalance } from '../../protocol/bounded-calls/balance-call.ts';
import type { CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import { minBigint } from '../../protocol/fixed-point.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import { readMoved, transferCall, transferCode } from '../../protocol/transfers/transfer-proof.ts';
import { growingTo } from '../../runtime/growing-cache.ts';
import type { Logger } from '../../runtime/logger.ts';
import { OutageLog } from '../../runtime/outage-log.ts';
import type { PoolAnswers, TransferAnswers } from '../calls/decode-pool.ts';
import type { ServedPool } from '../pools/pool-directory.ts';

export interface TransferProverDeps {
  readonly target: ChainTarget;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/** Tokens that moved are tried again once in ten blocks, and when the pool's balance or a token's code changes. */
const BLOCKS = 10n;
/** For how many pools it is remembered that their tokens move: those read last. */
const MAX_POOLS = 10_000;

/** What the calls that try transfers need of nodes. */
const NEEDED = ['stateOverrides', 'programOverrides', 'transfers'] as const;

/** The answers when all that was asked of both tokens moved, and the state that these answers hold for. */
interface Proven {
  readonly state: string;
  readonly answers: TransferAnswers;
}

/**
 * Finds how much of its tokens each pool can send and receive. Code that replaces the pool in a simulation sends what
 * the bins hold, and gets it sent back.
 */
export class TransferProver {
  readonly #deps: TransferProverDeps;
  readonly #outage: OutageLog;
  readonly #proven = new LRUCache<Address, Proven>(growingTo(MAX_POOLS));

  constructor(deps: TransferProverDeps) {
    this.#deps = deps;
    this.#outage = new OutageLog(deps.logger, {
      begin: 'nodes do not apply state overrides: transfers of tokens are not tried',
      end: 'transfers of tokens are tried again',
    });
  }

  /**
   * Tries transfers for the pools that have prices, unless what is known of them still holds.
   *
   * @param read what was read of the pools at the block
   * @returns the answers in the order of the pools; undefined for a pool whose transfers could not be tried
   * @throws RpcFailure when the nodes did not answer
   */
  async prove(
    context: ReadContext,
    pools: readonly ServedPool[],
    read: readonly PoolAnswers[],
  ): Promise<(TransferAnswers | undefined)[]> {
    const states = read.map((answers) => stateOf(context.block, answers));
    const known = pools.map(({ address }, index) => {
      const proven = this.#proven.get(address);
      return proven?.state === states[index] ? proven?.answers : undefined;
    });
    const { target } = this.#deps;
    if (!NEEDED.every((ability) => target.rpc.mayHave(ability))) return known;
    const due = pools.flatMap((pool, index) => {
      const amounts = known[index] ? null : heldBy(pool, read[index] ?? {});
      return amounts ? [{ pool, index, amounts }] : [];
    });
    if (due.length === 0) return known;
    const groups = due.map(({ pool, amounts }) =>
      [pool.token0, pool.token1].map(({ address }, token) => transferCall(pool.address, address, amounts[token] ?? 0n)),
    );
    const code = transferCode(due.map(({ pool }) => pool.address));
    const { isApplied, answers } = await boundedCalls(target, { ...context, code, needs: 'transfers' }, groups);
    if (!isApplied) {
      this.#outage.failed(undefined);
      return known;
    }
    this.#outage.worked();
    for (const [order, { pool, index, amounts }] of due.entries()) {
      const results = answers[order]?.results;
      if (!results) continue;
      const tried = amounts.map((most, token) => ({ most: numberToHex(most), result: plain(results[token]) }));
      known[index] = tried;
      if (tried.every(hasMovedWhole)) this.#proven.set(pool.address, { state: states[index] ?? '', answers: tried });
    }
    return known;
  }
}

/** Whether all of a token moved that was asked for. */
export const hasMovedWhole = ({ most, result }: TransferAnswers[number]): boolean => {
  const { amount, sent, received } = readMoved(result, BigInt(most));
  return sent === amount && received === amount;
};

const plain = (result: CallResult | undefined): CallResult => ({
  success: result?.success ?? false,
  data: result?.data ?? '0x',
});

/** The state that answers hold for: transfers are tried again when it changes. */
function stateOf({ number }: BlockRef, { prices = [] }: PoolAnswers): string {
  const [, ...tokens] = prices.slice(0, 5);
  return [number / BLOCKS, ...tokens.map(({ data }) => data)].join();
}

/** What a pool with prices can pay of each token, raw units; null without prices or state. */
function heldBy({ layout, immutables }: ServedPool, { storage, prices }: PoolAnswers): readonly bigint[] | null {
  const [price, ...balances] = prices ?? [];
  if (!storage?.success || !price?.success) return null;
  try {
    const held = layoutAdapter(layout)
      .state.decode(immutables, storage.data as Hex)
      .heldRaw();
    return held.map((amount, token) => minBigint(amount, readBalance(balances[token]) ?? amount));
  } catch {
    // `decodePool` reports it.
    return null;
  }
}
