import type { TransactionSerializableEIP1559 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, test, vi } from 'vitest';
import { signedCall } from '../../chain/signed-call.ts';
import { traceableCall } from './traceable-call.ts';

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`);
const signed = (change: Partial<TransactionSerializableEIP1559>) =>
  account.signTransaction({ type: 'eip1559', chainId: 1, to: account.address, gas: 5_000_000n, ...change });

test('the sender is recovered only of a transaction that is traced', async () => {
  const readCall = vi.fn(signedCall);
  const others = [{ chainId: 56 }, { gas: 5_000_001n }, { to: null }];
  for (const change of others) expect(await traceableCall(await signed(change), 1, readCall)).toBeUndefined();
  expect(await traceableCall('0x02', 1, readCall)).toBeUndefined();
  expect(readCall).not.toHaveBeenCalled();
  expect(await traceableCall(await signed({}), 1, readCall)).toMatchObject({ from: account.address, gas: 5_000_000n });
  expect(readCall).toHaveBeenCalledOnce();
});
