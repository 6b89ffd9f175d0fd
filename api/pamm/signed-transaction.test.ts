import fc from 'fast-check';
import { fromRlp, recoverTransactionAddress, serializeTransaction, type TransactionSerializable, toRlp } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import type { Hex } from '../../builders/submit/quote-update.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { ApiError } from '../errors.ts';
import { checkSignedTransaction } from './signed-transaction.ts';

const signer = privateKeyToAccount(`0x${'55'.repeat(32)}`);
const fees = { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n };
const delegation = await signer.signAuthorization({ chainId: 1, contractAddress: signer.address, nonce: 0 });
const common = { chainId: 1, gas: 50_000n, to: signer.address, data: '0x1234' } as const;

test.each<[string, TransactionSerializable]>([
  ['legacy', { ...common, type: 'legacy', gasPrice: 1n }],
  ['eip2930', { ...common, type: 'eip2930', gasPrice: 1n, accessList: [{ address: signer.address, storageKeys: [] }] }],
  ['eip1559', { ...common, ...fees, type: 'eip1559' }],
  [
    'eip4844',
    { ...common, ...fees, type: 'eip4844', maxFeePerBlobGas: 1n, blobVersionedHashes: [`0x01${'ab'.repeat(31)}`] },
  ],
  ['eip7702', { ...common, ...fees, type: 'eip7702', authorizationList: [delegation] }],
  ['a contract creation', { chainId: 1, gas: 50_000n, data: '0x6000', ...fees, type: 'eip1559' }],
])('%s transactions of any nonce pass, and none with a byte more or less', async (_name, transaction) => {
  for (let nonce = 0; nonce < 40; nonce++) {
    const tx = await signer.signTransaction({ ...transaction, nonce });
    expect(() => checkSignedTransaction(tx, 1)).not.toThrow();
    expect(() => checkSignedTransaction(`${tx}00`, 1)).toThrow();
    expect(() => checkSignedTransaction(tx.slice(0, -2) as Hex, 1)).toThrow();
    expect(() => checkSignedTransaction(tx, 56)).toThrow('tx is signed for chain 1, not for chain 56');
  }
});

test('what viem reads and cannot write, or counts without digits, is rejected like other malformed transactions', async () => {
  const key = `0x${'ab'.repeat(32)}` as const;
  const accessList = [{ address: signer.address, storageKeys: [key] }];
  const typed = await signer.signTransaction({ ...common, ...fees, type: 'eip1559', accessList });
  const fields = fromRlp(`0x${typed.slice(4)}`, 'hex') as Hex[];
  const shortKey = fields.with(8, [[signer.address, ['0xab']]] as unknown as Hex);
  const tx: Hex = `0x02${toRlp(shortKey).slice(2)}`;
  expect(() => checkSignedTransaction(tx, 1)).toThrow('tx is not a canonically encoded transaction');

  const legacy = await signer.signTransaction({ ...common, type: 'legacy', gasPrice: 1n });
  for (const index of [7, 8]) {
    const unsigned = toRlp((fromRlp(legacy, 'hex') as Hex[]).with(index, '0x'));
    expect(() => checkSignedTransaction(unsigned, 1)).toThrow(ApiError);
  }
});

/** The same question answered by a whole recovery of the sender. */
async function recovers(tx: Hex): Promise<boolean> {
  try {
    await recoverTransactionAddress({ serializedTransaction: tx as `0x02${string}` });
    return true;
  } catch {
    return false;
  }
}

test('any r is judged as a recovery of the sender judges it', async () => {
  const r = fc.oneof(fc.bigInt({ min: 1n, max: 50n }), fc.bigInt({ min: 1n, max: 2n ** 256n - 1n }));
  const seen = new Set<boolean>();
  await fc.assert(
    fc.asyncProperty(r, fc.constantFrom(0, 1), async (x, yParity) => {
      const signature = { r: `0x${x.toString(16).padStart(64, '0')}`, s: `0x${'01'.repeat(32)}`, yParity } as const;
      const tx = serializeTransaction({ ...common, ...fees, type: 'eip1559' }, signature);
      const passes = await recovers(tx);
      seen.add(passes);
      if (passes) expect(() => checkSignedTransaction(tx, 1)).not.toThrow();
      else expect(() => checkSignedTransaction(tx, 1)).toThrow('tx has no valid signature');
    }),
    { numRuns: runs(30) },
  );
  expect(seen.size).toBe(2);
});
