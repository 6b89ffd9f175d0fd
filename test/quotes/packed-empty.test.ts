import type { Address } from 'viem';
import { describe, expect, test } from 'vitest';
import { addLiquidity, extsload } from '../../devnet/actions.ts';
import { deployContract } from '../../devnet/deploy.ts';
import { type MarketPool, ONE } from '../../devnet/packed/market.fixture.ts';
import { packedVariant } from '../../devnet/packed/variants.ts';
import { createPool } from '../../devnet/pools.ts';
import { HEAD_SLOTS } from '../../protocol/layouts/storage.ts';
import { tradingLevels } from './chain-curve.ts';
import { lastMethod, packedApi, startedPackedMarket } from './packed-world.ts';

const lowercase = ({ pool }: MarketPool) => pool.toLowerCase() as Address;

describe.each([
  ['sumOnPrice', 'formula', 'fill'],
  ['quotient', 'fit', 'revert'],
  ['growing', 'simulation', 'fill'],
  ['growing', 'simulation', 'revert'],
] as const)('pools that charge by the rule %s (%s), whose zero amounts %s', (rule, method, zeroAmounts) => {
  const world = startedPackedMarket({ ...packedVariant(rule), zeroAmounts });

  test('are healthy without liquidity, and with liquidity on one side alone', async () => {
    const [empty, oneSided] = [await pool([]), await pool([1, 2, 3, 4])];
    for (const [own, asks] of [
      [empty, 0],
      [oneSided, 4],
    ] as const) {
      const { status, quote } = await quoteOf(own);
      expect([status, quote?.priceProviderStatus]).toEqual([200, 'healthy']);
      expect(tradingLevels(quote?.depth?.bids ?? [])).toEqual([]);
      expect(tradingLevels(quote?.depth?.asks ?? [])).toHaveLength(asks);
    }
  });

  test('have no depth where their bins are read as empty and give something', async () => {
    const own = await world.market.fundedPool(() => [], 'OpenQuoteProvider');
    const before = await quoteOf(own);
    expect([before.status, before.method]).toEqual([200, method]);
    const misread = { ...own, pool: await hideBins(own) };
    expect(await quoteOf(misread)).toMatchObject({ status: 503, method: 'none' });
    expect(await quoteOf(misread, false)).toMatchObject({ status: 200, quote: { priceProviderStatus: 'healthy' } });
  });

  /** A pool of nine bins, with a hundred tokens in some. */
  async function pool(funded: readonly number[]): Promise<MarketPool> {
    const { chain, deployment } = world.market.setup;
    const provider = await world.market.deployProvider();
    const address = await createPool(chain, deployment, world.market.spec(provider));
    const bins = funded.map((bin) => ({ bin, shares: 100n * ONE }));
    if (bins.length > 0) await addLiquidity(chain, deployment, { pool: address, owner: chain.roles.provider, bins });
    return { pool: address, provider };
  }

  /** A pool that trades as this one does, and whose storage has the head alone. */
  async function hideBins({ pool: address }: MarketPool): Promise<Address> {
    const { chain } = world.market.setup;
    const front = await deployContract(chain, 'BinsElsewhere', [address]);
    const words = await extsload(chain, address, HEAD_SLOTS);
    for (const [index, value] of words.entries()) await chain.client.setStorageAt({ address: front, index, value });
    return front;
  }

  /** What a service answers that was not asked before. */
  async function quoteOf(own: MarketPool, depth = true) {
    const { chain, deployment } = world.market.setup;
    const address = lowercase(own);
    const api = await packedApi({ chain }, [{ address, deployment }]);
    const [result] = await api.results([address], depth);
    const method = lastMethod(api, address);
    if (!result || !('quote' in result)) return { status: result?.error.status, quote: null, method };
    return { status: 200, quote: result.quote, method };
  }
});
