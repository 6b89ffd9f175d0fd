import type { Side } from '../math/tradable.ts';
import { OverridesIgnoredError, SwapRevertedError } from './errors.ts';
import { decodeProbe, encodeProbe, PROBE, PROBE_CODE, type ProbeResult } from './swap-probe.ts';

/** A connection to a node, by EIP-1193: a wallet, or a client of viem or ethers. */
export interface Eip1193Provider {
  request(call: { readonly method: string; readonly params?: unknown }): Promise<unknown>;
}

/** `overrides` of a response to `include=stateOverride`. */
export interface Overrides {
  /** Number and time of the block that is being built, hex. */
  readonly blockOverrides: { readonly number: string; readonly time: string };
  /** Words by account and storage slot. */
  readonly stateOverride: Readonly<Record<string, { readonly stateDiff: Readonly<Record<string, string>> }>>;
}

/**
 * The fields of a quote that a simulation reads. In a batch and a route they are spread: `{ ...quote, overrides }`, and
 * of a leg `{ poolAddress, basis, overrides }`.
 */
export interface SimulatedQuote {
  readonly poolAddress: string;
  readonly basis?: { readonly kind: 'live' | 'committed'; readonly blockNumber: number } | undefined;
  readonly overrides?: Overrides | null | undefined;
}

/** A quote, and the side that is traded: `bids` where the input is token0. */
export interface SimulatedSide {
  readonly quote: SimulatedQuote;
  readonly side: Side;
}

/** What a swap takes and gives, raw units. */
export interface SimulatedSwap {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
}

const MAX_AMOUNT = 2n ** 127n - 1n;

/**
 * Lets a node simulate the swap of an exact input in the state that a quote saw: one `eth_call` at the quote's block
 * with the quote's `overrides`; at the latest block for a chain without live prices.
 * Compare the result with `quoteExactIn`.
 *
 * The swap ends before it is paid, so it needs no tokens. Guards that run after a swap, such as stop losses, do not see
 * it; the quote counts them. A node that ignores overrides is noticed:
 * code in the call returns the block that it ran in.
 *
 * @param provider any EIP-1193 provider of the quote's chain
 * @param candidate quote and side; a live quote was requested with `include=stateOverride`. Chains whose nodes follow
 *   parts of blocks give no overrides: request `basis=committed` there
 * @param amountIn input, raw units, above 0
 * @returns the amounts; beyond the depth of the side both are lower than for a complete fill
 * @throws SwapRevertedError when the pool rejects the swap; OverridesIgnoredError; RangeError for an amount that is 0,
 *   negative or above 2^127 - 1; TypeError for a live quote without `overrides`; what the provider throws
 * @example
 * const quote = await client.getBidAsk({ chainId: 1, poolAddress, include: 'stateOverride' });
 * const { amountOut } = await simulateExactIn(window.ethereum, { quote, side: 'bids' }, 10n ** 18n);
 */
export function simulateExactIn(
  provider: Eip1193Provider,
  candidate: SimulatedSide,
  amountIn: bigint,
): Promise<SimulatedSwap> {
  return simulate(provider, candidate, checked(amountIn));
}

/**
 * Lets a node simulate the swap of an exact output, as {@link simulateExactIn}.
 * Compare the result with `quoteExactOut`.
 *
 * @param provider any EIP-1193 provider of the quote's chain
 * @param candidate quote and side; a live quote was requested with `include=stateOverride`
 * @param amountOut output, raw units, above 0
 * @returns the amounts; beyond the depth of the side both are lower than for a complete fill
 * @throws as {@link simulateExactIn}
 */
export function simulateExactOut(
  provider: Eip1193Provider,
  candidate: SimulatedSide,
  amountOut: bigint,
): Promise<SimulatedSwap> {
  return simulate(provider, candidate, -checked(amountOut));
}

async function simulate(
  provider: Eip1193Provider,
  { quote: { poolAddress, basis, overrides }, side }: SimulatedSide,
  amount: bigint,
): Promise<SimulatedSwap> {
  if (basis?.kind === 'live' && !overrides) {
    throw new TypeError(
      'A live quote has no overrides: request include=stateOverride, or basis=committed where a chain gives none',
    );
  }
  // The overrides of a batch or a route are those of its live quotes.
  const { blockOverrides, stateOverride } = (basis?.kind !== 'committed' && overrides) || {};
  const result = await provider.request({
    method: 'eth_call',
    params: [
      { to: PROBE, data: encodeProbe(poolAddress, side, amount) },
      basis ? `0x${basis.blockNumber.toString(16)}` : 'latest',
      { ...stateOverride, [PROBE]: { code: PROBE_CODE } },
      ...(blockOverrides ? [blockOverrides] : []),
    ],
  });
  const probed = decodeProbe(result);
  if (!probed || (blockOverrides && !isIn(blockOverrides, probed))) throw new OverridesIgnoredError();
  if (!probed.amounts) throw new SwapRevertedError(probed.data);
  const [amount0, amount1] = probed.amounts;
  return side === 'bids' ? { amountIn: amount0, amountOut: -amount1 } : { amountIn: amount1, amountOut: -amount0 };
}

const isIn = ({ number, time }: Overrides['blockOverrides'], { blockNumber, timestamp }: ProbeResult): boolean =>
  BigInt(number) === blockNumber && BigInt(time) === timestamp;

function checked(amount: bigint): bigint {
  if (amount <= 0n || amount > MAX_AMOUNT) throw new RangeError(`Amount ${amount} is not from 1 to 2^127 - 1`);
  return amount;
}
