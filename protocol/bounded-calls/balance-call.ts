import { type Address, decodeFunctionResult, encodeFunctionData, erc20Abi, prepareEncodeFunctionData } from 'viem';
import type { BoundedCall, CallResult } from './bounded-calls.ts';

/** Prepared here, as other calls that are made all the time: the selector is a hash. */
const BALANCE_OF = prepareEncodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf' });
const ONE_WORD = 32;
/** Characters of one word in hex. A call of an address without code succeeds with no data. */
const ONE_WORD_LENGTH = 2 + 2 * ONE_WORD;
/** Ordinary tokens take a tenth of the limit at most. */
const BALANCE = { likelyGas: 50_000, gasLimit: 500_000, keptBytes: ONE_WORD };

/** The call of an ERC-20 token, which may be anyone's contract, for the balance of an account. */
export function balanceCall(token: Address, account: Address): BoundedCall {
  return {
    target: token,
    data: encodeFunctionData({ ...BALANCE_OF, args: [account] }),
    ...BALANCE,
  };
}

/**
 * @param result what {@link balanceCall} gave
 * @returns raw units; null when the token did not answer
 */
export function readBalance(result: CallResult | undefined): bigint | null {
  if (!result?.success || result.data.length < ONE_WORD_LENGTH) return null;
  return decodeFunctionResult({ abi: erc20Abi, functionName: 'balanceOf', data: result.data });
}
