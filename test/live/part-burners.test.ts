import { concatHex, type Hex } from 'viem';
import { expect, test, vi } from 'vitest';
import { startedWorld } from '../harness/open-world.ts';
import { quotesOf } from './part-quotes.ts';
import { startPartWorld } from './part-world.ts';

/* Anyone can make pools whose providers burn the gas of a call, and request their quotes. */

const PARTS_PER_BLOCK = 60;
/** More than one call has gas for. */
const BURNERS = 24;
const HONEST = 4;
const PARTS = 10;
/** A part with new prices takes so many calls at most. */
const CALLS = 3;
/** Until it is known which pools burn gas: calls for those behind them, in which each may take all that it is given. */
const ONCE = 10;

/**
 * Burns gas until 100,000 are left, and quotes a price that depends on the fees paid, so that it changes at each part:
 *
 *     while (gas > 100_000) {}
 *     bid = 2 << 64 + balance(0) & 0xffffffff
 *     ask = bid + 1 << 56
 */
const BURNER: Hex = concatHex([
  '0x5b620186a05a11600057',
  '0x60003163ffffffff1668020000000000000000018060005267010000000000000001602052',
  '0x60406000f3',
]);

const world = startedWorld(async () => {
  const opened = await startPartWorld({
    flatPools: BURNERS + HONEST / 2,
    packedPools: HONEST / 2,
    guards: ['none', 'stopLoss'],
    node: { form: 'payload', partsPerBlock: PARTS_PER_BLOCK },
  });
  // Its clock is slow: on a busy machine it polls no part.
  return { ...opened, followed: opened.open({ now: () => performance.now() / 10 }) };
});

const callsAtParts = () => world.node.requests.filter(({ params }) => params.includes('pending')).length;

/** Shows a part with new prices of the honest pools, until these have live quotes after it. */
async function showNext(hundredths: bigint): Promise<void> {
  const { followed, market, node } = world;
  // Parts are followed while somebody asks.
  await quotesOf(world, {}, followed);
  const { index } = await world.price(hundredths, market.pools.slice(BURNERS));
  await vi.waitFor(async () => {
    const basis = { kind: 'live', targetBlockNumber: Number(node.part().number), source: { part: index } };
    for (const quote of (await quotesOf(world, {}, followed)).slice(BURNERS))
      expect(quote).toMatchObject({ basis, priceProviderStatus: 'healthy' });
  });
}

test('pools that burn gas take no quotes of others, and cost a few calls once', { timeout: 90_000 }, async () => {
  const { market } = world;
  await world.price(195n);
  for (let parts = 0n; parts < 6n; parts += 1n) await showNext(190n + parts);
  for (const { provider } of market.pools.slice(0, BURNERS))
    await market.chain.client.setCode({ address: provider, bytecode: BURNER });
  const before = callsAtParts();
  for (let parts = 0n; parts < BigInt(PARTS); parts += 1n) await showNext(200n + parts);
  expect(callsAtParts() - before).toBeLessThanOrEqual(CALLS * PARTS + ONCE);
});
