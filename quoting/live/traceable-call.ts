import { type Hex, parseTransaction } from 'viem';
import { type SignedCall, signedCall } from '../../chain/signed-call.ts';

/** An update that needs more is not traced: an oracle's write needs a few hundred thousand. */
const MAX_GAS = 5_000_000n;

/**
 * Reads a signed transaction as the call that it makes of a contract, by its sender.
 *
 * @param readCall takes milliseconds, in which it recovers the sender: only for a transaction that is traced
 * @returns undefined when it is none, is of another chain, creates a contract, or may need more than 5 million gas
 */
export async function traceableCall(tx: Hex, chainId: number, readCall = signedCall): Promise<SignedCall | undefined> {
  try {
    const { to, gas = 0n, ...rest } = parseTransaction(tx);
    return to && rest.chainId === chainId && gas <= MAX_GAS ? await readCall(tx) : undefined;
  } catch {
    return undefined;
  }
}
