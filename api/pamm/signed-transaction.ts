import { ECDH } from 'node:crypto';
import { parseTransaction, serializeTransaction } from 'viem';
import type { Hex } from '../../builders/submit/quote-update.ts';
import { badRequest } from '../errors.ts';

/** Order of secp256k1, and half of it. Nodes reject signatures whose s is larger than half (EIP-2). */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const HALF_ORDER = ORDER / 2n;

/**
 * Checks that `tx` is one whole, canonically encoded transaction of the chain with a valid signature.
 *
 * @throws ApiError 400 that names `tx`
 */
export function checkSignedTransaction(tx: Hex, chainId: number): void {
  const { r, s, v, yParity, ...transaction } = parse(tx);
  if (r === undefined || s === undefined) throw badRequest('tx is not signed');
  if (transaction.chainId === undefined) throw badRequest('tx is not bound to a chain (EIP-155)');
  if (transaction.chainId !== chainId) {
    throw badRequest(`tx is signed for chain ${transaction.chainId}, not for chain ${chainId}`);
  }
  const signature =
    v === undefined ? { r, s, yParity: yParity ?? 0 } : { r, s, v, ...(yParity === undefined ? {} : { yParity }) };
  if (!isEncodingOf(tx, transaction as Parameters<typeof serializeTransaction>[0], signature)) {
    throw badRequest('tx is not a canonically encoded transaction');
  }
  if (!isRecoverable(r, s)) throw badRequest('tx has no valid signature');
}

function parse(tx: Hex): ReturnType<typeof parseTransaction> {
  try {
    return parseTransaction(tx);
  } catch {
    throw badRequest('tx is not a signed transaction');
  }
}

/** Whether `tx` is how a transaction is encoded. Some that viem reads, as with short storage keys, it cannot write. */
function isEncodingOf(tx: Hex, ...parts: Parameters<typeof serializeTransaction>): boolean {
  try {
    return serializeTransaction(...parts) === tx;
  } catch {
    return false;
  }
}

/**
 * Whether the signature recovers to some sender. It does if r is the x coordinate of a point of the curve. OpenSSL
 * checks that a hundred times faster than JavaScript would recover the sender.
 */
function isRecoverable(r: Hex, s: Hex): boolean {
  try {
    if (BigInt(s) === 0n || BigInt(s) > HALF_ORDER || BigInt(r) === 0n || BigInt(r) >= ORDER) return false;
    ECDH.convertKey(`02${r.slice(2).padStart(64, '0')}`, 'secp256k1', 'hex', 'hex', 'uncompressed');
    return true;
  } catch {
    return false;
  }
}
