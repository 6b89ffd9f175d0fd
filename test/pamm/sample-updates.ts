import { randomBytes } from 'node:crypto';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { Hex, QuoteUpdate, Submission } from '../../builders/submit/quote-update.ts';

const SIGNER: PrivateKeyAccount = privateKeyToAccount(`0x${'11'.repeat(32)}`);

/** A signed transaction of the chain; another `nonce` gives another one. */
export function signedTx(chainId: number, nonce = 0): Promise<Hex> {
  return SIGNER.signTransaction({
    type: 'eip1559',
    chainId,
    nonce,
    gas: 100_000n,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 1n,
    to: `0x${'22'.repeat(20)}`,
    data: '0x12345678',
  });
}

export const newUuid = (): Hex => `0x${randomBytes(16).toString('hex')}`;

/** A valid live update, changed as given. */
export function updateOf(changes: Partial<QuoteUpdate> = {}): QuoteUpdate {
  return {
    chainId: 31338,
    tx: '0xabcdef',
    blockNumber: 100n,
    replacementUuid: `0x${'00'.repeat(15)}01`,
    replacementSeqNumber: 1n,
    disableCrossRegionSharing: false,
    poolAddresses: [],
    assetPairs: [],
    ...changes,
  };
}

/** A submission of {@link updateOf} that arrived at the given time, by default now. */
export function submissionOf(changes: Partial<QuoteUpdate> = {}, arrivedAtMs: number = Date.now()): Submission {
  return { id: randomBytes(18).toString('hex'), replyTo: 'no-listener', arrivedAtMs, update: updateOf(changes) };
}
