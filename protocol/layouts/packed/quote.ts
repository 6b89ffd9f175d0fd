import { toFunctionSelector } from 'viem';
import { wordAt } from '../../abi-words.ts';
import type { LayoutParts } from '../create-adapter.ts';
import type { ProviderQuote } from '../ladder.ts';

/** How packed pools ask their provider: three words of uint128. */
export const PACKED_QUOTE: LayoutParts['quote'] = {
  selector: toFunctionSelector('getQuote()'),
  words: 3,
  decode: (data) => ({ bidX64: wordAt(data, 0), askX64: wordAt(data, 1), referenceX64: wordAt(data, 2) }),
};

/** Whether a pool accepts a quote: 0 < bid <= reference <= ask. */
export function isTradableQuote({ bidX64, askX64, referenceX64 }: ProviderQuote): boolean {
  return bidX64 > 0n && bidX64 <= referenceX64 && referenceX64 <= askX64;
}
