import type { Address, Hex } from 'viem';
import type { CallResult } from './bounded-calls/bounded-calls.ts';
import type { PoolCurve } from './curve.ts';
import type { TradingSides } from './guards/side-claim.ts';

/**
 * How a curve that needs the chain became known at a block, cheapest first: a formula that agreed with the pool stands in
 * for it, factors were fitted to simulated swaps and proved by others, or every level was simulated.
 */
export type CurveRank = 'formula' | 'fit' | 'simulation';

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
  /** Its guards where all of them are evaluated from their state: walks by simulated swaps can leave them out. */
  readonly evaluatedGuards: readonly Address[];
  /** Whether an extension judges who swaps: what it says of simulated swaps does not hold for a trader. */
  readonly isCallerJudged: boolean;
  /** A natural number below 2^31, drawn at random. */
  draw(): number;
  /** Told what a proof was given that does not hold at this block and did when it was last tried. */
  refuted(inputs: Readonly<Record<string, unknown>>): void;
}

/** The curve of a pool that only the chain knows. */
export interface CurveSearch {
  start(context: SearchContext): SearchStep;
}

/** A swap of the pool to simulate, isolated as any call of a stranger's contract. */
export interface SearchedSwap {
  readonly data: Hex;
  readonly likelyGas: number;
  readonly gasLimit: number;
}

/** A question to the chain, all at the block of the pool's state, or the end of the search. No step does I/O. */
export type SearchStep =
  | {
      readonly kind: 'simulate';
      readonly swaps: readonly SearchedSwap[];
      /** Extensions that object to nothing in these swaps, where the node can put other code at their addresses. */
      readonly silenced: readonly Address[];
      /**
       * @param results in order, the first 68 bytes of each; no data where the node ran out of gas
       * @param isSilenced whether these extensions were left out
       */
      next(results: readonly CallResult[], isSilenced: boolean): SearchStep;
    }
  | {
      /** A call of its own, from address 0. */
      readonly kind: 'ask';
      readonly target: Address;
      readonly data: Hex;
      /** @param answer no data when the contract refused */
      next(answer: Hex): SearchStep;
    }
  | {
      readonly kind: 'code';
      readonly accounts: readonly Address[];
      /** @param codes in order; no bytes where the node gives none */
      next(codes: readonly Hex[]): SearchStep;
    }
  | {
      /** Creation code that asks the pool more than single swaps can; only some pools may at one block. */
      readonly kind: 'program';
      readonly data: Hex;
      readonly gas: bigint;
      /** Extensions that object to nothing in this call, where the node can put other code at their addresses. */
      readonly silenced: readonly Address[];
      /**
       * @param answer its first word is the chain id, which is checked already
       * @throws Error when it is no answer of the program
       */
      next(answer: Hex): SearchStep;
    }
  | ({ readonly kind: 'curve'; readonly rank: CurveRank; readonly curve: PoolCurve } & Learned)
  /** Guards are asked already. */
  | ({ readonly kind: 'sides'; readonly rank: CurveRank; readonly sides: TradingSides } & Learned)
  | ({ readonly kind: 'failed'; readonly reason: string } & Learned);

/** What a search leaves behind. */
export interface Learned {
  readonly known: CurveKnowledge | undefined;
  readonly dropped: DropReason | null;
}
