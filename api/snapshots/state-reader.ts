import { type Address, type Hex, numberToHex, zeroAddress } from 'viem';
import type { BlockRef, CodeOverrides } from '../../chain/chain-rpc.ts';
import type { Clock } from '../../chain/circuit-breaker.ts';
import { type ContractCall, type MulticallTarget, multicall } from '../../chain/multicall.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { LayoutAdapter } from '../../protocol/layout.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { ServedPool } from './pool-directory.ts';

/** What a pool stores, and what its provider quotes. */
export interface StateRead {
  /** The answer to the layout's call for the state. */
  readonly storage: CallResult | undefined;
  /** The provider's answer; undefined when the nodes could not ask it. */
  readonly quote: CallResult | undefined;
}

/** Upper estimates of gas, calldata included: a cold storage read costs 2,100 and its 32 bytes of calldata 512. */
const GAS = { extsload: 10_000, perSlot: 3_000, quote: 200_000 };
/** Gas with which a provider is asked for sure. */
const CERTAIN_QUOTE_GAS = 3_500_000;
/** After nodes turned out not to apply overrides, how long before they are asked again. */
const RETRY_AFTER_MS = 60_000;

/** Code that returns 42, put where nothing lives: an answer of 42 proves that the node applied the overrides. */
const CANARY: Address = '0xca0a21ca0a21ca0a21ca0a21ca0a21ca0a21ca0a';
const CANARY_CODE: Hex = '0x602a5f5260205ff3';
const CANARY_ANSWER = numberToHex(42, { size: 32 });
const CANARY_CALL: ContractCall = { target: CANARY, data: '0x', gas: 5_000 };

/** A pool with the adapter of its layout. */
export interface AdaptedPool {
  readonly pool: ServedPool;
  readonly layout: LayoutAdapter;
}

/**
 * Reads storage of pools and the exact quotes of their providers in the same calls, under an override that puts a stub in
 * place of each pool. A node that does not know overrides is found out by a canary; it reads storage alone, and the
 * caller inverts the pools' prices instead.
 */
export class StateReader {
  readonly #target: MulticallTarget;
  readonly #logger: Logger;
  readonly #now: Clock;
  #unsupportedUntil = 0;

  constructor(target: MulticallTarget, logger: Logger, now: Clock = () => performance.now()) {
    this.#target = target;
    this.#logger = logger;
    this.#now = now;
  }

  /**
   * @returns in the order of the pools
   * @throws RpcFailure when no node gave the block's storage
   */
  async read(block: BlockRef, pools: readonly AdaptedPool[], signal?: AbortSignal): Promise<StateRead[]> {
    if (this.#now() < this.#unsupportedUntil) return this.#readStorage(block, pools, signal);
    try {
      return await this.#readAll(block, pools, signal);
    } catch (error) {
      if (!(error instanceof RpcFailure) || error.code !== 'refused') throw error;
      const read = await this.#readStorage(block, pools, signal);
      this.#unsupported(error);
      return read;
    }
  }

  async #readStorage(block: BlockRef, pools: readonly AdaptedPool[], signal?: AbortSignal): Promise<StateRead[]> {
    const groups = pools.map((pool) => [storageCall(pool)]);
    const results = await multicall(this.#target, block, groups, undefined, signal);
    return results.map(([storage]) => ({ storage, quote: undefined }));
  }

  /** Storage comes first in each call: a pool's own code reads it, and no provider has had the gas yet. */
  async #readAll(block: BlockRef, pools: readonly AdaptedPool[], signal?: AbortSignal): Promise<StateRead[]> {
    const overrides = stubs(pools);
    const groups = pools.map((pool) => [storageCall(pool), quoteCall(pool, GAS.quote)]);
    const [canary, ...results] = await multicall(this.#target, block, [[CANARY_CALL], ...groups], overrides, signal);
    if (canary?.[0]?.data !== CANARY_ANSWER) {
      this.#unsupported();
      return results.map(([storage]) => ({ storage, quote: undefined }));
    }
    const spared = pools.filter((_, index) => isSpared(results[index]?.[1]));
    const certain = spared.map((pool) => [quoteCall(pool, CERTAIN_QUOTE_GAS)]);
    const late = certain.length > 0 ? await multicall(this.#target, block, certain, overrides, signal) : [];
    return pools.map((_, index) => {
      const [storage, quote] = results[index] ?? [];
      return { storage, quote: isSpared(quote) ? late.shift()?.[0] : quote };
    });
  }

  /** Nodes do not know overrides: spares the attempt for a while. */
  #unsupported(refusal?: RpcFailure): void {
    this.#unsupportedUntil = this.#now() + RETRY_AFTER_MS;
    this.#logger.warn({ err: refusal }, 'nodes do not apply state overrides: prices are inverted instead');
  }
}

function stubs(pools: readonly AdaptedPool[]): CodeOverrides {
  const overrides = new Map<Address, Hex>([[CANARY, CANARY_CODE]]);
  for (const { pool, layout } of pools) {
    overrides.set(pool.address, layout.prices.providerStubCode(pool.immutableProvider ?? zeroAddress));
  }
  return overrides;
}

function storageCall({ pool, layout }: AdaptedPool): ContractCall {
  const { data, words } = layout.state.call(pool.immutables);
  return { target: pool.address, data, gas: GAS.extsload + words * GAS.perSlot };
}

function quoteCall({ pool, layout }: AdaptedPool, gas: number): ContractCall {
  return { target: pool.address, data: layout.prices.providerQuoteCall, gas };
}

/** The stub did not ask the provider, since others had burned the gas. */
const isSpared = (result: CallResult | undefined): boolean => result?.success === true && result.data === '0x';
