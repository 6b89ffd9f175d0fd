import { expect, vi } from 'vitest';
import { request } from '../../devnet/json-rpc.ts';

/** Makes the transactions of `work` again, all of them in one block. */
export async function inOneBlock<T>(url: string, work: () => Promise<T>): Promise<T> {
  const head = async () => Number(await request<string>(url, 'eth_blockNumber', []));
  const snapshot = await request<string>(url, 'evm_snapshot', []);
  const before = await head();
  const done = await work();
  const sent: { from: string; to: string | null; input: string; gas: string; value: string }[] = [];
  for (let block = before + 1; block <= (await head()); block += 1) {
    const found = await request<{ transactions: typeof sent }>(url, 'eth_getBlockByNumber', [
      `0x${block.toString(16)}`,
      true,
    ]);
    sent.push(...found.transactions);
  }
  // The node drops mined transactions from its pool a moment later, and gives nonces after those in it.
  await vi.waitUntil(async () => Number((await request<{ pending: string }>(url, 'txpool_status', [])).pending) === 0);
  await request(url, 'evm_revert', [snapshot]);
  await request(url, 'evm_setAutomine', [false]);
  for (const { from, to, input, value } of sent) {
    const transaction = { from, ...(to !== null && { to }), input, value, gas: '0x989680' };
    await request(url, 'eth_sendTransaction', [transaction]);
  }
  await request(url, 'anvil_mine', ['0x1']);
  await request(url, 'evm_setAutomine', [true]);
  const { transactions } = await request<{ transactions: string[] }>(url, 'eth_getBlockByNumber', ['latest', false]);
  expect(transactions).toHaveLength(sent.length);
  return done;
}
