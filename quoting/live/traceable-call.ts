import { type Hex, parseTransaction, recoverTransactionAddress, type TransactionSerialized } from 'viem';
import type { TracedCall } from '../../chain/trace-writes.ts';

/** An update that needs more is not traced: an oracle's write needs a few hundred thousand. */
const MAX_GAS = 5_000_000n;

/**
 * Reads a signed transaction as the call that it makes of a contract, by its sender.
 *
 * @returns undefined when it is none, is of another chain, creates a contract, or may need more than 5 million gas
 */
export async function signedCall(tx: Hex, chainId: number): Promise<TracedCall | undefined> {
  try {
    const { to, data = '0x', value = 0n, gas = 0n, ...rest } = parseTransaction(tx);
    if (!to || rest.chainId !== chainId || gas > MAX_GAS) return undefined;
    const from = await recoverTransactionAddress({ serializedTransaction: tx as TransactionSerialized });
    return { from, to, data, value, gas };
  } catch {
    return undefined;
  }
}
