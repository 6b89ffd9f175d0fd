import { type Address, type PublicClient, parseAbi } from 'viem';
import { describe, expect, test } from 'vitest';
import { administer } from '../../devnet/actions.ts';
import { connectDevChain } from '../../devnet/dev-chain.ts';
import { openWorld } from '../harness/open-world.ts';
import type { IndexedWorld } from '../indexing/indexed-world.ts';
import { type Amounts, balanceDifferences, donate } from './donation.ts';
import { expectAnalytics } from './expect-analytics.ts';
import { listWorld, NAMES } from './listed-world.ts';
import { countLpFeesPerDay, queryLpFeesPerDay } from './lp-fees-per-day.ts';
import { readBlockTimes } from './raw-log-analytics.ts';
import { readRecord } from './record-from-chain.ts';

/** Tests of what is listed of an indexed world, which trades on meanwhile. */
export function testListing(indexed: IndexedWorld): void {
  const world = openWorld(async (ends) => ends.adopt(await listWorld(indexed), ({ database }) => database.end()));

  describe('analytics equal what independent code counts in raw logs', () => {
    test.each([0, 1])('of chain %i', async (index) => {
      const chain = world.chains[index];
      if (!chain) throw new Error('no such chain');
      const own = world.rows.filter((row) => row.chain === NAMES[chain.chainId]);
      expect(own.length).toBe(chain.scenario.pools.length);
      const blocks = await readBlockTimes(chain.client);
      let counted = { inWindow: 0, before: 0 };
      for (const row of own) {
        const logs = await expectAnalytics(chain.client, row, blocks);
        counted = { inWindow: counted.inWindow + logs.inWindow, before: counted.before + logs.before };
      }
      expect(counted.inWindow).toBeGreaterThan(30);
      expect(counted.before).toBeGreaterThan(30);
      const statuses = new Set(own.map(({ analytics24h }) => analytics24h?.fiatStatus));
      expect([...statuses].sort()).toEqual(['complete', 'partial', 'unavailable']);
    });
  });

  test('the LP fees per day that docs/use/sql.md shows how to ask for are those of the raw logs', async () => {
    const shown = [...(await queryLpFeesPerDay(world.database))].filter(([, fee]) => fee !== 0);
    const counted: [string, unknown][] = [];
    for (const { client, chainId, scenario } of world.chains) {
      const blocks = await readBlockTimes(client);
      for (const { address } of scenario.pools) {
        for (const [day, scaled] of await countLpFeesPerDay(client, address, blocks)) {
          // The devnet's pools count in units of 10^-18 tokens.
          if (scaled > 0n) counted.push([`${chainId}:${address}:${day}`, expect.closeTo(Number(scaled) / 1e18, 12)]);
        }
      }
    }
    expect(counted).not.toEqual([]);
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(counted));
  });

  test('every field of a record that comes from the chain is what the chain says', async () => {
    for (const chain of world.chains) {
      const { client, chainId, scenario } = chain;
      for (const { address, name } of scenario.pools) {
        const {
          token0FiatPrice,
          token1FiatPrice,
          aprBps7d,
          tvlFiat,
          executability,
          trend24h,
          persistence24h,
          analytics24h,
          ...facts
        } = world.rowOf(chain, name);
        const { priceProviderStatus, swapGas, classificationSummary, ...shown } = facts;
        expect(shown, name).toEqual(await readRecord({ client, scenario, pool: address }, NAMES[chainId] ?? ''));
      }
    }
  });

  test('tokens have their listed price, one that a confirmed pool gives them, or none', async () => {
    for (const chain of world.chains) {
      const { tokens, pools } = chain.scenario;
      const usdOf = new Map(tokens.map(({ address, usd, listedPrice }) => [address, listedPrice ? Number(usd) : null]));
      const daiUsdc = pools.find(({ name }) => name === 'custom-extension');
      if (!daiUsdc) throw new Error('no pool of DAI and USDC');
      usdOf.set(daiUsdc.token0, (await readMidPrice(chain.client, daiUsdc.address)) * (usdOf.get(daiUsdc.token1) ?? 0));
      for (const { name, token0, token1 } of pools) {
        const { token0FiatPrice, token1FiatPrice } = world.rowOf(chain, name);
        for (const [shown, token] of [
          [token0FiatPrice, token0],
          [token1FiatPrice, token1],
        ] as const) {
          const usd = usdOf.get(token) ?? null;
          expect(shown, name).toEqual(usd === null ? null : expect.closeTo(usd, 9));
        }
      }
    }
  });

  test('every listed pool has a tier', () => {
    expect(world.rows.map(({ classificationSummary }) => classificationSummary.tierQualification)).not.toContain(
      'unclassified',
    );
  });

  test('statuses, tiers and details distinguish the pools of the scenario', () => {
    for (const chain of world.chains) {
      const status = (name: string) => world.rowOf(chain, name).priceProviderStatus;
      expect(status('feed-down')).toBe('feed_down');
      expect(status('crossed-quote')).toBe('pool_refused');
      expect(status('paused')).toBe('pool_paused');
      expect(status('paused-by-protocol')).toBe('pool_paused');
      expect(status('exemplary')).toBe('healthy');
      expect(world.rowOf(chain, 'paused-by-protocol')).toMatchObject({
        pauseLevel: 2,
        priceProviderDetails: { providerType: 'regular' },
      });
      expect(world.rowOf(chain, 'immutable-provider')).toMatchObject({
        lockedPricing: true,
        priceProviderCooldownSecs: 18446744073709551615n,
      });
      expect(world.rowOf(chain, 'immutable-provider').priceProviderDetails).toBeUndefined();
      expect(world.rowOf(chain, 'pending-provider').priceProviderChange).toMatchObject({
        newPriceProvider: expect.stringMatching(/^0x/),
      });
      expect(world.rowOf(chain, 'stop-loss-cuts').extensionDetails?.stopLoss).toEqual({
        drawdownE6: '2000',
        decayPerSecondE18: '0',
        timelockSecs: String(2 ** 32 - 1),
        phases: ['afterSwap'],
      });
      expect(world.rowOf(chain, 'velocity-guard').extensionDetails?.priceVelocity?.maxChangePerBlockE18).toBe(
        String(10n ** 14n),
      );
      expect(world.rowOf(chain, 'wide-bins').classificationSummary.reasonCodes).toContain('bin_width_exceeded');
      expect(world.rowOf(chain, 'unvouched-feed').classificationSummary.reasonCodes).toContain(
        'anchored_feed_unmatched',
      );
      expect(world.rowOf(chain, 'tokenized-stock').classificationSummary).toMatchObject({
        tierQualification: 'red',
        reasonCodes: expect.arrayContaining(['multiplier_token_unscaled']),
      });
    }
  });

  test('a verified curator makes the exemplary pool green, delisting makes it black', async () => {
    const [chain] = world.chains;
    if (!chain) throw new Error('no chain');
    const before = world.rowOf(chain, 'exemplary');
    expect(before.classificationSummary.reasonCodes).toEqual(['curator_unverified']);
    await world.database.query(`INSERT INTO operator.curator VALUES ($1, $2, 'Alice', true)`, [
      chain.chainId,
      before.admin,
    ]);
    await world.runJobs();
    const lookUp = () => world.listing.page(chain.chainId, { addresses: before.poolAddress });
    const [after] = (await lookUp()).data;
    expect(after).toMatchObject({
      adminUsername: 'Alice',
      verifiedAdmin: true,
      classificationSummary: { tierQualification: 'green', reasonCodes: [] },
    });
    await world.database.query('INSERT INTO operator.delisted_pool VALUES ($1, $2)', [
      chain.chainId,
      before.poolAddress,
    ]);
    await world.runJobs();
    expect(await lookUp()).toEqual({ data: [], total: 0, nextOffset: null });
    const delisted = await world.listing.page(chain.chainId, { blacklistedOnly: true });
    expect(delisted.data).toMatchObject([
      { poolAddress: before.poolAddress, classificationSummary: { tierQualification: 'black' } },
    ]);
  });

  test('the balances by events and by capture differ by what was sent to a pool unsolicited, also after a collection', async () => {
    const [chain] = world.chains;
    const pool = chain?.scenario.pools.find(({ name }) => name === 'exemplary');
    if (!chain || !pool) throw new Error('no chain');
    const { anvil, chainId, scenario } = chain;
    const differences = async () => {
      await world.catchUp();
      await world.runJobs((name) => name.startsWith('price-health-') && name.endsWith(`-${chainId}`));
      return balanceDifferences(world.database, chainId);
    };
    const none = new Map(scenario.pools.map(({ address }): [string, Amounts] => [address, [0n, 0n]]));
    expect(await differences()).toEqual(none);

    const devChain = await connectDevChain(anvil.url);
    const donation: Amounts = [12_345_678_901n, 23_456_789n];
    await donate(devChain, pool, donation);
    const afterDonation = new Map(none).set(pool.address, donation);
    expect(await differences()).toEqual(afterDonation);

    // The collection pays the donation out like a fee, and its event counts it as one.
    await administer(devChain, scenario.deployment, {
      from: devChain.roles.untrusted,
      functionName: 'collectPoolFees',
      args: [pool.address],
    });
    expect(await differences()).toEqual(afterDonation);
  });
}

/** Whole token1 per whole token0: the geometric mean of what a seller gets and a buyer pays. */
async function readMidPrice(client: PublicClient, address: Address): Promise<number> {
  const abi = parseAbi(['function getSellAndBuyPrices() view returns (uint128 sell, uint128 buy)']);
  const [sell, buy] = await client.readContract({ address, abi, functionName: 'getSellAndBuyPrices' });
  return Math.sqrt((Number(sell) / 2 ** 64) * (Number(buy) / 2 ** 64));
}
