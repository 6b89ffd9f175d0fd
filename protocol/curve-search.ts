import type { Address, Hex } from 'viem';
import type { BoundedCall, CallResult } from './bounded-calls/bounded-calls.ts';
import type { PoolCurve } from './curve.ts';

/**
 * How a curve that only the chain knows was found, cheapest method first. `formula`: a formula that agreed with the
 * pool before stands in for it. `fit`: factors were fitted to simulated swaps and proved by other swaps. `simulation`:
 * every level was simulated.
 */
export type CurveMethod = 'formula' | 'fit' | 'simulation';

/**
 * Why formulas no longer stand in for a pool: its code changed, they do not give its prices, or they differ by now,
 * perhaps by a fee that it did not charge before.
 */
export type DropReason = 'code' | 'prices' | 'ambiguous';

/** The code of some accounts at one block. */
export interface CodeState {
  /** The pool, its provider, and the libraries that are linked into them. */
  readonly accounts: readonly Address[];
  /** Hash of each account's code, as EXTCODEHASH gives it. */
  readonly hashes: readonly Hex[];
}

/** What a search learnt about a pool that also holds at later blocks. Each layout chooses its own strings. */
export interface CurveKnowledge {
  /** The form of calldata in which the pool simulates swaps. */
  readonly form: string;
  /** Formulas that stand in for the pool while its code stays the same; null before any was tried. */
  readonly formulas: {
    /** Empty when all were refuted, or where hashes do not determine what the code does. */
    readonly names: readonly string[];
    readonly code: CodeState;
    /** Whether the pool charged a notional fee when they agreed. If not, how it takes one was not compared. */
    readonly hadNotionalFee: boolean;
  } | null;
  /** For how many more reads no fit is tried, because the last one did not hold; absent when it did. */
  readonly readsWithoutFit?: number;
}

/** What a layout needs to search a pool's curve, besides its state, prices and quote. */
export interface SearchContext {
  readonly pool: Address;
  readonly known: CurveKnowledge | undefined;
  readonly immutableProvider: Address | null;
  /**
   * The pool's guards, known or not, which simulated swaps leave out: how far they let it trade is found afterwards.
   */
  readonly guards: readonly Address[];
  /** Whether a guard is unknown, so that it may take much gas where it cannot be left out. */
  readonly isUnknownGuarded: boolean;
  /** Whether an extension judges who swaps: its verdict on our simulated swaps then does not hold for a trader. */
  readonly isCallerJudged: boolean;
  /** Draws a random natural number below 2^31. */
  draw(): number;
  /** Reports the inputs of a proof that held when it was last tried and does not hold at this block. */
  refuted(inputs: Readonly<Record<string, unknown>>): void;
}

/** What a search reads from the chain, at the block of the pool's state. Methods throw when no node answered. */
export interface SearchChain {
  /**
   * Simulates swaps of the pool, each isolated like any call to an untrusted contract.
   *
   * @param silenced extensions to leave out of these swaps, where the node can put other code at their addresses
   * @returns results in order, the first 68 bytes of each, no data where the node ran out of gas; and whether the
   *   extensions were left out
   */
  simulate(
    swaps: readonly SearchedSwap[],
    silenced: readonly Address[],
  ): Promise<{ readonly results: readonly CallResult[]; readonly isSilenced: boolean }>;
  /** Calls a contract from address 0. No data means that the contract refused. */
  ask(target: Address, data: Hex): Promise<Hex>;
  /** Code of accounts, in order; no bytes where the node gives none. */
  codes(accounts: readonly Address[]): Promise<readonly Hex[]>;
  /**
   * Runs creation code that asks the pool more than single swaps can. Only some pools may do this at one block.
   *
   * @param silenced as in {@link simulate}
   * @returns the answer; its first word, the chain id, is already checked
   */
  program(data: Hex, silenced: readonly Address[]): Promise<Hex>;
}

/** A swap of the pool to simulate. */
export type SearchedSwap = Pick<BoundedCall, 'data' | 'likelyGas' | 'gasLimit'>;

/** Formulas that stand in for a pool at one block, by name, and the form of calldata in which it simulates swaps. */
export interface FoundFormulas {
  readonly names: readonly string[];
  readonly form: string;
}

/** A curve that a search found. */
export type SearchedCurve = PoolCurve & { readonly found?: FoundFormulas };

/** A search for a curve that only the chain knows. */
export interface CurveSearch {
  /** @throws what `chain` throws, and an Error where an answer cannot be read */
  find(context: SearchContext, chain: SearchChain): Promise<SearchEnd>;
  /** The curve by formulas that another process found at this block; null without the quote that they take. */
  byFormulas(found: FoundFormulas): SearchedCurve | null;
}

/** How a search ended, and what it learnt for later reads. */
export type SearchEnd = (
  | { readonly method: CurveMethod; readonly curve: SearchedCurve }
  | { readonly method: 'none'; readonly reason: string }
) & { readonly known: CurveKnowledge | undefined; readonly dropped: DropReason | null };
