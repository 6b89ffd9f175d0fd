import { expect, onTestFinished, test } from 'vitest';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import { startAnvil } from '../../devnet/anvil.ts';
import { connectDevChain } from '../../devnet/dev-chain.ts';
import { usualBlockTime } from './usual-block-time.ts';

test('an hour without blocks is not part of the block time, once blocks came again', async () => {
  const anvil = await startAnvil({ chainId: 31_337 });
  onTestFinished(() => anvil.stop());
  const { client } = await connectDevChain(anvil.url);
  const rpc = openChainRpc({ chainId: 31_337, rpcUrls: [anvil.url] }, 5_000);
  expect(await usualBlockTime(rpc)).toBeNull();
  await client.mine({ blocks: 150, interval: 2 });
  const steady = await usualBlockTime(rpc);
  await client.increaseTime({ seconds: 3_600 });
  await client.mine({ blocks: 150, interval: 2 });
  const later = await usualBlockTime(rpc);
  // Slow mining adds seconds of its own.
  for (const ms of [steady, later]) expect(ms).toSatisfy((time) => time >= 1_900 && time < 2_500);
});
