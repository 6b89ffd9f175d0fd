import { type Hex, parseTransaction, recoverTransactionAddress, type TransactionSerialized } from 'viem';
import type { TracedCall } from './trace-call.ts';

/** A signed transaction as the call that it makes, by the sender that its signature recovers to. */
export interface SignedCall extends TracedCall {
  /** Undefined where the signature is bound to no chain. */
  readonly chainId: number | undefined;
  readonly nonce: number;
}

/**
 * Reads a signed transaction.
 *
 * @throws an error of viem when it is none
 */
export async function signedCall(tx: Hex): Promise<SignedCall> {
  const { to, data = '0x', value = 0n, gas = 0n, nonce = 0, chainId } = parseTransaction(tx);
  const from = await recoverTransactionAddress({ serializedTransaction: tx as TransactionSerialized });
  return { chainId, from, ...(to && { to }), data, value, gas, nonce };
}
