import { type Address, type Hex, zeroAddress } from 'viem';
import type { LayoutAdapter } from '../../protocol/layout.ts';
import type { ProviderQuote } from '../../protocol/pool-state.ts';
import { firstWord, isWords } from './pool-calls.ts';
import type { ServedPool } from './pool-directory.ts';
import type { Clock } from './rpc/circuit-breaker.ts';
import { type CallResult, type ContractCall, type MulticallTarget, multicall } from './rpc/multicall.ts';
import type { BlockRef } from './types.ts';

const QUOTE_GAS = 200_000;
/** After nodes turned out not to apply overrides, how long before they are asked again. */
const RETRY_AFTER_MS = 60_000;

/** Code that returns 42, put where nothing lives: an answer of 42 proves that the node applied the overrides. */
const CANARY: Address = '0xca0a21ca0a21ca0a21ca0a21ca0a21ca0a21ca0a';
const CANARY_CODE: Hex = '0x602a5f5260205ff3';
const CANARY_CALL: ContractCall = { target: CANARY, data: '0x', gas: 5_000 };

/**
 * Reads the exact bid and ask of many providers in one call, under an override that puts a stub in place of each pool.
 * A node that does not know overrides is found out by a canary, and the caller inverts the pools' prices instead.
 */
export class ProviderQuotes {
  readonly #target: MulticallTarget;
  readonly #now: Clock;
  #unsupportedUntil = 0;

  constructor(target: MulticallTarget, now: Clock = () => performance.now()) {
    this.#target = target;
    this.#now = now;
  }

  /**
   * @returns quotes by pool; a pool whose provider did not quote, or every pool when the nodes cannot tell, is left out
   * @throws RpcFailure; `refused` at a block that the nodes know means that they do not take overrides
   */
  async read(
    block: BlockRef,
    pools: readonly ServedPool[],
    layoutOf: (pool: ServedPool) => LayoutAdapter,
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<Address, ProviderQuote>> {
    if (this.#now() < this.#unsupportedUntil) return new Map();
    const overrides = new Map<Address, Hex>([[CANARY, CANARY_CODE]]);
    for (const pool of pools) {
      overrides.set(pool.address, layoutOf(pool).quote.providerStubCode(pool.immutableProvider ?? zeroAddress));
    }
    const groups = pools.map((pool) => [quoteCall(pool, layoutOf(pool))]);
    const [canary, ...results] = await multicall(this.#target, block, [[CANARY_CALL], ...groups], overrides, signal);
    if (firstWord(canary?.[0]?.data ?? '0x') === 42n) return decodeQuotes(pools, layoutOf, results);
    this.unsupported();
    return new Map();
  }

  /** Nodes do not know overrides: spares the call for a while. */
  unsupported(): void {
    this.#unsupportedUntil = this.#now() + RETRY_AFTER_MS;
  }
}

function quoteCall(pool: ServedPool, layout: LayoutAdapter): ContractCall {
  return { target: pool.address, data: layout.quote.providerQuoteCall, gas: QUOTE_GAS };
}

function decodeQuotes(
  pools: readonly ServedPool[],
  layoutOf: (pool: ServedPool) => LayoutAdapter,
  results: readonly (readonly CallResult[])[],
): Map<Address, ProviderQuote> {
  const quotes = new Map<Address, ProviderQuote>();
  pools.forEach((pool, index) => {
    const result = results[index]?.[0];
    if (!result?.success || !isWords(result.data, 2)) return;
    quotes.set(pool.address, layoutOf(pool).quote.decodeProviderQuote(result.data));
  });
  return quotes;
}
