import { expect, test } from 'vitest';
import { startAnvil } from '../anvil.ts';
import { connectDevChain } from '../dev-chain.ts';
import { startMockLiveBuilder } from './mock-live-builder.ts';

test('blocks have the times of other slots than those of Ethereum, one after another', async () => {
  const anvil = await startAnvil({ chainId: 31_337, args: ['--timestamp', '1700000001'] });
  try {
    const chain = await connectDevChain(anvil.url);
    const builder = await startMockLiveBuilder(chain, { slots: { genesisSecs: 1_000n, slotSecs: 3n } });
    try {
      // (1700000001 - 1000) / 3 = 566666333.67: the empty block of the start is in the slot after it.
      const first = { number: 2n, slot: 566_666_335n, timeSecs: 1_700_000_005n };
      expect(builder.block()).toEqual(first);
      expect(await builder.buildBlock()).toMatchObject(first);
      expect(builder.block()).toEqual({ number: 3n, slot: 566_666_336n, timeSecs: 1_700_000_008n });
      expect(await chain.client.getBlock()).toMatchObject({ number: 2n, timestamp: 1_700_000_005n });
    } finally {
      await builder.stop();
    }
  } finally {
    await anvil.stop();
  }
});
