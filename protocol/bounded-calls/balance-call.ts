import { type Address, toFunctionSelector } from 'viem';
import { addressWord, wordAt } from '../abi-words.ts';
import type { BoundedCall, CallResult } from './bounded-calls.ts';

const BALANCE_OF = toFunctionSelector('balanceOf(address)');
const ONE_WORD = 32;
/** Characters of one word in hex. A call to an address without code succeeds with no data. */
const ONE_WORD_LENGTH = 2 + 2 * ONE_WORD;
/** Ordinary tokens take a tenth of the limit at most. */
const BALANCE = { likelyGas: 50_000, gasLimit: 500_000, keptBytes: ONE_WORD };

/** Makes the call that asks an ERC-20 token, which may be an untrusted contract, for the balance of an account. */
export function balanceCall(token: Address, account: Address): BoundedCall {
  return { target: token, data: `${BALANCE_OF}${addressWord(account)}`, ...BALANCE };
}

/**
 * Reads the balance from a result of {@link balanceCall}.
 *
 * @returns raw units; null when the token returned no balance
 */
export function readBalance(result: CallResult | undefined): bigint | null {
  if (!result?.success || result.data.length < ONE_WORD_LENGTH) return null;
  return wordAt(result.data, 0);
}
