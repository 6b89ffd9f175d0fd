import { type Hex, hexToBigInt, toFunctionSelector } from 'viem';
import { priceVelocityGuardAbi, stopLossAbi } from './layouts/flat/extension-abi.ts';
import { poolErrors } from './layouts/flat/pool-abi.ts';

/**
 * Why a pool gave no price.
 * - `feedDown`: the provider failed, be it a stalled feed or the oracle's own error;
 * - `quoteRefused`: the feed quoted, but no pool trades on a bid of zero or a bid above the ask;
 * - `unexplained`: it ended without a word, or with one that says nothing of the feed, such as a panic;
 * - `unread`: nobody asked it, or nobody could make sense of what it said: a fault on our side.
 */
export type PriceFailure = 'feedDown' | 'quoteRefused' | 'unexplained' | 'unread';

/** What a simulated swap ended with. */
export type SimulationOutcome =
  /** Raw units, positive into the pool. */
  | { readonly kind: 'simulated'; readonly amount0Delta: bigint; readonly amount1Delta: bigint }
  | { readonly kind: 'refused'; readonly by: Guard }
  /** The pool itself rejects the amount: zero, or beyond what it can count. */
  | { readonly kind: 'invalidAmount' }
  | { readonly kind: 'unexplained' };

export type Guard = 'stopLoss' | 'priceVelocity' | 'swapAllowlist' | 'other';

export type PriceProviderStatus =
  | 'healthy'
  | 'feed_down'
  | 'pool_refused'
  | 'pool_paused'
  | 'internal_error'
  | 'unknown';

const SELECTOR_LENGTH = 10;
const WORD_LENGTH = 64;

/** Errors that pools and known guards revert with, by selector: hashing names per call would cost more than the call. */
const ERROR_NAMES = new Map(
  [...poolErrors, ...stopLossAbi, ...priceVelocityGuardAbi]
    .filter((item) => item.type === 'error')
    .map((error) => [errorSelector(error), error.name] as const),
);
const PANIC_SELECTOR = toFunctionSelector('Panic(uint256)');

/** Reads the revert data of the pool's `getSellAndBuyPrices`. */
export function decodePriceFailure(revertData: Hex): PriceFailure {
  switch (errorName(revertData)) {
    case 'PriceProviderFailed':
      return 'feedDown';
    case 'BidGreaterThanAsk':
    case 'BidIsZero':
      return 'quoteRefused';
    default:
      return 'unexplained';
  }
}

/** Reads the revert data of `simulateSwapAndRevert`, or of a swap. */
export function decodeSimulation(revertData: Hex): SimulationOutcome {
  switch (errorName(revertData)) {
    case 'SimulateSwap':
      return simulated(revertData);
    case 'OracleStopLossTriggered':
      return { kind: 'refused', by: 'stopLoss' };
    case 'PriceVelocityExceeded':
      return { kind: 'refused', by: 'priceVelocity' };
    case 'NotAllowedToSwap':
      return { kind: 'refused', by: 'swapAllowlist' };
    case 'ExtensionCallFailed':
      return { kind: 'refused', by: 'other' };
    case 'InvalidAmount':
    case 'AmountScaledExceedsMax':
      return { kind: 'invalidAmount' };
    case undefined:
      return isForeignError(revertData) ? { kind: 'refused', by: 'other' } : { kind: 'unexplained' };
    default:
      return { kind: 'unexplained' };
  }
}

function errorSelector({ name, inputs }: { name: string; inputs: readonly { type: string }[] }): Hex {
  return toFunctionSelector(`${name}(${inputs.map(({ type }) => type).join(',')})`);
}

function errorName(revertData: Hex) {
  return ERROR_NAMES.get(selectorOf(revertData));
}

function selectorOf(revertData: Hex): Hex {
  return `0x${revertData.slice(2, SELECTOR_LENGTH).toLowerCase()}`;
}

function simulated(revertData: Hex): SimulationOutcome {
  if (revertData.length < SELECTOR_LENGTH + 2 * WORD_LENGTH) return { kind: 'unexplained' };
  const word = (index: number) => {
    const start = SELECTOR_LENGTH + index * WORD_LENGTH;
    return hexToBigInt(`0x${revertData.slice(start, start + WORD_LENGTH)}`, { signed: true, size: 32 });
  };
  return { kind: 'simulated', amount0Delta: word(0), amount1Delta: word(1) };
}

/** A custom extension's refusal comes through unwrapped; a panic or empty data is a fault, no refusal. */
function isForeignError(revertData: Hex): boolean {
  return revertData.length >= SELECTOR_LENGTH && selectorOf(revertData) !== PANIC_SELECTOR;
}

/** What is known of a pool when its status is asked for. */
export interface StatusFacts {
  /** 'read' when the pool has a tradable quote. */
  readonly price: 'read' | PriceFailure;
  /** Null when it could not be read. */
  readonly pauseLevel: number | null;
  /** Whether guards refuse the very first unit of a side. */
  readonly bidsRefused: boolean;
  readonly asksRefused: boolean;
}

/** The first that applies is the status: a paused pool with a down feed shows the feed. */
const STATUS_RULES: readonly { status: PriceProviderStatus; applies: (facts: StatusFacts) => boolean }[] = [
  { status: 'internal_error', applies: ({ price }) => price === 'unread' },
  { status: 'unknown', applies: ({ price }) => price === 'unexplained' },
  { status: 'feed_down', applies: ({ price }) => price === 'feedDown' },
  { status: 'pool_refused', applies: ({ price }) => price === 'quoteRefused' },
  { status: 'unknown', applies: ({ pauseLevel }) => pauseLevel === null },
  { status: 'pool_paused', applies: ({ pauseLevel }) => pauseLevel !== 0 },
  { status: 'pool_refused', applies: ({ bidsRefused, asksRefused }) => bidsRefused && asksRefused },
];

export function quoteStatus(facts: StatusFacts): PriceProviderStatus {
  return STATUS_RULES.find(({ applies }) => applies(facts))?.status ?? 'healthy';
}
