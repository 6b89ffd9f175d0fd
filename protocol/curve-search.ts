import type { Address, Hex } from 'viem';
import type { CallResult } from './bounded-calls/bounded-calls.ts';
import type { PoolCurve } from './curve.ts';

/**
 * How a curve that needs the chain became known at a block, cheapest first: a formula that agreed with the pool stands in
 * for it, factors were fitted to simulated swaps and proved by others, or every level was simulated.
 */
export type CurveMethod = 'formula' | 'fit' | 'simulation';

/** Why a formula no longer stands in for a pool: other code, other prices, or formulas that agreed before and differ now. */
export type DropReason = 'code' | 'prices' | 'ambiguous';

/** Code at one block. */
export interface CodeState {
  /** The pool, its provider, and the libraries that are linked into them. */
  readonly accounts: readonly Address[];
  /** Of the code of each, as EXTCODEHASH gives it. */
  readonly hashes: readonly Hex[];
}

/** What a search found out about a pool that counts at later blocks as well. Strings are the layout's own. */
export interface CurveKnowledge {
  /** How simulated swaps are asked of the pool. */
  readonly form: string;
  /** Formulas that stand in while the code is this; null when none was tried yet. */
  readonly formulas: {
    /** None when all were refuted, or where hashes do not say what the code does. */
    readonly names: readonly string[];
    readonly code: CodeState;
  } | null;
  /** Reads for which no fit is tried, since the last one did not hold; absent when it did. */
  readonly readsWithoutFit?: number;
}

/** What a layout takes of a pool whose curve it searches, beside its state, prices and quote. */
export interface SearchContext {
  readonly pool: Address;
  readonly known: CurveKnowledge | undefined;
  readonly immutableProvider: Address | null;
  /** Whether simulated swaps run guards, which take gas. */
  readonly isGuarded: boolean;
  /** Its guards where all of them are evaluated from their state: simulated swaps can leave them out. */
  readonly evaluatedGuards: readonly Address[];
  /** Whether an extension judges who swaps: what it says of simulated swaps does not hold for a trader. */
  readonly isCallerJudged: boolean;
  /** A natural number below 2^31, drawn at random. */
  draw(): number;
  /** Takes what a proof was given that does not hold at this block and did when it was last tried. */
  refuted(inputs: Readonly<Record<string, unknown>>): void;
}

/** What a search asks of the chain, all at the block of the pool's state. Each throws when no node answered. */
export interface SearchChain {
  /**
   * Simulates swaps of the pool, isolated as any call of an untrusted contract.
   *
   * @param silenced extensions that object to nothing in these swaps, where the node can put other code at their addresses
   * @returns results in order, the first 68 bytes of each, no data where the node ran out of gas; and whether the
   *   extensions were left out
   */
  simulate(
    swaps: readonly SearchedSwap[],
    silenced: readonly Address[],
  ): Promise<{ readonly results: readonly CallResult[]; readonly isSilenced: boolean }>;
  /** A call from address 0; no data when the contract refused. */
  ask(target: Address, data: Hex): Promise<Hex>;
  /** Code of accounts, in order; no bytes where the node gives none. */
  codes(accounts: readonly Address[]): Promise<readonly Hex[]>;
  /**
   * Runs creation code that asks the pool more than single swaps can; only some pools may at one block.
   *
   * @param silenced as of {@link simulate}
   * @returns the answer, whose first word is the chain id, which is checked already
   */
  program(data: Hex, silenced: readonly Address[]): Promise<Hex>;
}

/** A swap of the pool to simulate. */
export interface SearchedSwap {
  readonly data: Hex;
  readonly likelyGas: number;
  readonly gasLimit: number;
}

/** The curve of a pool that only the chain knows. */
export interface CurveSearch {
  /** @throws what `chain` throws, and an Error where an answer cannot be read */
  find(context: SearchContext, chain: SearchChain): Promise<SearchEnd>;
}

/** How a search ended, and what it leaves behind. */
export type SearchEnd = (
  | { readonly method: CurveMethod; readonly curve: PoolCurve }
  | { readonly method: 'none'; readonly reason: string }
) & { readonly known: CurveKnowledge | undefined; readonly dropped: DropReason | null };
