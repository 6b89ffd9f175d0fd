import { beforeAll, expect, test } from 'vitest';
import { startedWorld } from '../test/harness/open-world.ts';
import { startAnvil } from './anvil.ts';
import { connectDevChain, type DevChain, mined, submit } from './dev-chain.ts';

const anvil = startedWorld(() => startAnvil({ chainId: 31_337 }));
let chain: DevChain;

beforeAll(async () => {
  chain = await connectDevChain(anvil.url);
});

test('transactions of one account that are sent together get one nonce each', async () => {
  const { owner, untrusted } = chain.roles;
  const hashes = await Promise.all(
    Array.from({ length: 200 }, () => submit(chain, { from: owner, to: untrusted, data: '0x' })),
  );
  const receipts = await Promise.all(hashes.map((hash) => mined(chain, hash)));
  expect(new Set(receipts.map(({ transactionHash }) => transactionHash)).size).toBe(200);
  expect(await chain.client.getTransactionCount({ address: owner })).toBe(200);
});
