/**
 * Swaps that a node simulates in the state that a quote saw, also in a block that is being built.
 *
 * @module
 */
export { OverridesIgnoredError, SwapRevertedError } from './simulate/errors.ts';
export {
  type Eip1193Provider,
  type Overrides,
  type SimulatedQuote,
  type SimulatedSide,
  type SimulatedSwap,
  simulateExactIn,
  simulateExactOut,
} from './simulate/swaps.ts';
