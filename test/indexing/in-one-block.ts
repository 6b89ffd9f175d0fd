import { expect } from 'vitest';
import { connectDevChain, minedTogether, takenBack } from '../../devnet/dev-chain.ts';
import { request } from '../../devnet/json-rpc.ts';

/** Makes the transactions of `work` again, all of them in one block. */
export async function inOneBlock<T>(url: string, work: () => Promise<T>): Promise<T> {
  const head = async () => Number(await request<string>(url, 'eth_blockNumber', []));
  const sent: { from: string; to: string | null; input: string; gas: string; value: string }[] = [];
  const chain = await connectDevChain(url);
  const done = await takenBack(chain, async () => {
    const before = await head();
    const result = await work();
    for (let block = before + 1; block <= (await head()); block += 1) {
      const found = await request<{ transactions: typeof sent }>(url, 'eth_getBlockByNumber', [
        `0x${block.toString(16)}`,
        true,
      ]);
      sent.push(...found.transactions);
    }
    return result;
  });
  await minedTogether(chain, async () => {
    for (const { from, to, input, value } of sent) {
      const transaction = { from, ...(to !== null && { to }), input, value, gas: '0x989680' };
      await request(url, 'eth_sendTransaction', [transaction]);
    }
  });
  const { transactions } = await request<{ transactions: string[] }>(url, 'eth_getBlockByNumber', ['latest', false]);
  expect(transactions).toHaveLength(sent.length);
  return done;
}
