import { isAddressEqual, parseTransaction, recoverTransactionAddress, serializeTransaction } from 'viem';
import type { Hex } from '../../builders/quote-update.ts';
import { badRequest } from '../errors.ts';

/** Half the order of secp256k1: nodes refuse signatures with a larger s (EIP-2). */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000';

/**
 * Checks that `tx` is one whole, canonically encoded transaction of the chain with a valid signature.
 *
 * @throws ApiError 400 that names `tx`
 */
export async function checkSignedTransaction(tx: Hex, chainId: number): Promise<void> {
  const { r, s, v, yParity, ...transaction } = parse(tx);
  if (r === undefined || s === undefined) throw badRequest('tx is not signed');
  if (transaction.chainId === undefined) throw badRequest('tx is not bound to a chain (EIP-155)');
  if (transaction.chainId !== chainId) {
    throw badRequest(`tx is signed for chain ${transaction.chainId}, not for chain ${chainId}`);
  }
  const signature =
    v === undefined ? { r, s, yParity: yParity ?? 0 } : { r, s, v, ...(yParity === undefined ? {} : { yParity }) };
  if (serializeTransaction(transaction as Parameters<typeof serializeTransaction>[0], signature) !== tx) {
    throw badRequest('tx is not a canonically encoded transaction');
  }
  if (BigInt(s) > HALF_ORDER || !(await recoversToSender(tx))) throw badRequest('tx has no valid signature');
}

function parse(tx: Hex): ReturnType<typeof parseTransaction> {
  try {
    return parseTransaction(tx);
  } catch {
    throw badRequest('tx is not a signed transaction');
  }
}

async function recoversToSender(tx: Hex): Promise<boolean> {
  try {
    const sender = await recoverTransactionAddress({ serializedTransaction: tx as `0x02${string}` });
    return !isAddressEqual(sender, ZERO_ADDRESS);
  } catch {
    return false;
  }
}
