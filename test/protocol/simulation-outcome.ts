import { type Hex, hexToBigInt, toFunctionSelector } from 'viem';
import { poolErrors, priceVelocityGuardAbi, stopLossAbi } from '../../devnet/protocol-abi.ts';

/** What a simulated swap ended with. */
export type SimulationOutcome =
  /** Raw units, positive into the pool. */
  | { readonly kind: 'simulated'; readonly amount0Delta: bigint; readonly amount1Delta: bigint }
  | { readonly kind: 'refused'; readonly by: Guard }
  /** The pool itself rejects the amount: zero, or beyond what it can count. */
  | { readonly kind: 'invalidAmount' }
  | { readonly kind: 'unexplained' };

type Guard = 'stopLoss' | 'priceVelocity' | 'swapAllowlist' | 'other';

const SELECTOR_LENGTH = 10;
const WORD_LENGTH = 64;

/**
 * Errors that pools and known guards revert with, by selector: hashing names per call would cost more than the call.
 */
const ERROR_NAMES = new Map(
  [...poolErrors, ...stopLossAbi, ...priceVelocityGuardAbi]
    .filter((item) => item.type === 'error')
    .map((error) => [errorSelector(error), error.name] as const),
);
const PANIC_SELECTOR = toFunctionSelector('Panic(uint256)');

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
