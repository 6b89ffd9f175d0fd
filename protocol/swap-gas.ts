import { divCeil, Q64 } from './fixed-point.ts';

/** Gas of swaps of one side of a pool, as simulations measured it. */
export interface SideGas {
  /** Of the whole side, in the pool alone: without its provider, transfers of tokens and the transaction's own. */
  readonly whole: number;
  /** Of a hundredth of the side, with provider and transfers, without the transaction's own. */
  readonly part: number;
  /** What each bin adds, about. */
  readonly perBin: number;
}

/** What a transaction takes besides its swaps: its base, its data and the entry of a router. */
export const TRANSACTION_GAS = 26_000;
/** What a swap takes besides pool and provider: two transfers of ordinary tokens, and the callback that pays. */
const SETTLEMENT_GAS = 47_000;
/** What a pool takes to show its prices besides its provider. */
const PRICE_CALL_GAS = 26_000;

/**
 * Gas of a swap with provider and transfers, without the transaction's own.
 *
 * @param simulated gas of the simulated swap, which has neither
 * @param prices gas of the call for the pool's prices
 */
export const swapGas = (simulated: number, prices: number): number =>
  simulated + Math.max(0, prices - PRICE_CALL_GAS) + SETTLEMENT_GAS;

/**
 * Derives the gas of a side.
 *
 * @param measured of swaps of a hundredth and of the whole side, and of the call for the pool's prices
 * @param bins of the side
 */
export function sideGas(
  { part, whole, prices }: { readonly part: number; readonly whole: number; readonly prices: number },
  bins: number,
): SideGas {
  const perBin = Math.max(0, Math.ceil((whole - part) / Math.max(1, bins - 1)));
  return { whole, part: swapGas(part, prices), perBin };
}

/** About the gas of a swap that ends in this bin, 0 for the first one; null when it was not measured. */
export const gasOfSwap = (side: SideGas | null, bin: number): number | null => side && side.part + bin * side.perBin;

/** Prices of gas. */
export interface GasPrice {
  /** Wei per unit of gas. */
  readonly gasPriceWei: bigint;
  /** Raw units of a token per wei, Q64.64. */
  readonly nativePriceX64: bigint;
}

/** What gas costs in raw units of the token, rounded up. */
export const costOfGas = ({ gasPriceWei, nativePriceX64 }: GasPrice, gas: number): bigint =>
  divCeil(BigInt(gas) * gasPriceWei * nativePriceX64, Q64);
