import type { Hex } from 'viem';
import { type SignedCall, signedCall } from '../../chain/signed-call.ts';

/** An update that needs more is not traced: an oracle's write needs a few hundred thousand. */
const MAX_GAS = 5_000_000n;

/**
 * Reads a signed transaction as the call that it makes of a contract, by its sender.
 *
 * @returns undefined when it is none, is of another chain, creates a contract, or may need more than 5 million gas
 */
export async function traceableCall(tx: Hex, chainId: number): Promise<SignedCall | undefined> {
  const call = await signedCall(tx).catch(() => undefined);
  return call?.to && call.chainId === chainId && call.gas <= MAX_GAS ? call : undefined;
}
