import { size, toFunctionSelector } from 'viem';
import { wordAt } from '../../abi-words.ts';
import type { CallResult } from '../../bounded-calls/bounded-calls.ts';

/** Calldata for a provider that asks for its quote: three words of uint128, as {@link ProviderQuote} has them. */
export const QUOTE_CALL = toFunctionSelector('getQuote()');
export const QUOTE_WORDS = 3;

/** What a price provider answers: token1 per whole token0, Q64.64. The reference anchors the bins. */
export interface ProviderQuote {
  readonly bidX64: bigint;
  readonly askX64: bigint;
  readonly referenceX64: bigint;
}

/** A pool accepts a quote of 0 < bid <= reference <= ask. */
export function isTradableQuote({ bidX64, askX64, referenceX64 }: ProviderQuote): boolean {
  return bidX64 > 0n && bidX64 <= referenceX64 && referenceX64 <= askX64;
}

/** Undefined when it is not a quote. */
export function decodeQuote({ success, data }: CallResult): ProviderQuote | undefined {
  if (!success || size(data) < QUOTE_WORDS * 32) return undefined;
  return { bidX64: wordAt(data, 0), askX64: wordAt(data, 1), referenceX64: wordAt(data, 2) };
}
