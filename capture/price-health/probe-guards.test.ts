import pg from 'pg';
import type { Address } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import { CallBudget } from '../../chain/read-schedule/call-budget.ts';
import { unknownErrorLog } from '../../chain/unknown-errors.ts';
import { DeploymentConfig, MULTICALL3 } from '../../config/chains-schema.ts';
import { loadArtifact } from '../../devnet/artifacts.ts';
import { deployContract } from '../../devnet/deploy.ts';
import { takenBack } from '../../devnet/dev-chain.ts';
import { packedStopLossExtension } from '../../devnet/packed/deploy.ts';
import { type MarketPool, ONE, PackedMarket, quoteAround } from '../../devnet/packed/market.fixture.ts';
import { setQuote } from '../../devnet/packed/providers.ts';
import { packedVariant } from '../../devnet/packed/variants.ts';
import { type ExtensionSpec, velocityExtension } from '../../devnet/pools.ts';
import { poolExtension } from '../../indexer/ponder.schema.ts';
import type { ClosedSides } from '../../quoting/calls/pool-price.ts';
import { createMigratedDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { createOnchainTables } from '../../test/harness/onchain-tables.ts';
import { openSeeder, seedPools, seedToken } from '../../test/harness/seed-pools.ts';
import { packedApi } from '../../test/quotes/packed-world.ts';
import { chainConfig } from '../../test/quotes/quote-world.ts';
import { CAPTURE_CLASSES, readPoolValues } from '../read-schedule/pool-values.ts';
import { readGuardedPools } from './guarded-pools.ts';
import { createGuardProbe } from './probe-guards.ts';

type GuardedMarketPool = MarketPool & { readonly guard: ExtensionSpec };

/** Enough for all pools at once. */
/** After which a velocity guard lets the price be 1% away: a thousandth times the square root of the blocks. */
const CALM_BLOCKS = 120;
/** Code that reverts with the selector 0xdeadbeef alone. */
const UNKNOWN_REVERT = '0x63deadbeef60e01b5f5260045ffd';
/** Between probes: a pool that burnt gas pauses for longer. */
const PROBE_MS = 1_000;

const bothClosed = (closed: ReadonlyMap<Address, ClosedSides>) =>
  new Set([...closed].filter(([, { bids, asks }]) => bids && asks).map(([address]) => address));

// One simulates with a sender and takes 1.5 million gas for a unit,
// the other without one and its depth is simulated whole.
describe.each([
  ['sumOnEdges', 'fill'],
  ['growing', 'fill'],
  ['sumOnEdges', 'revert'],
  ['growing', 'revert'],
] as const)('packed pools that charge by the rule %s, whose zero amounts %s', (rule, zeroAmounts) => {
  let market: PackedMarket;
  let testDatabase: TestDatabase;
  let database: pg.Pool;

  beforeAll(async () => {
    [market, testDatabase] = await Promise.all([
      PackedMarket.open({ ...packedVariant(rule), zeroAmounts }),
      createMigratedDatabase(),
    ]);
    const { deployedBytecode: bytecode } = loadArtifact('Multicall3');
    await market.setup.chain.client.setCode({ address: MULTICALL3, bytecode });
    database = new pg.Pool({ connectionString: testDatabase.url, max: 2 });
    await createOnchainTables(database);
  });

  afterAll(async () => {
    await database?.end();
    await Promise.all([market?.setup.anvil.stop(), testDatabase?.drop()]);
  });

  test('are closed while guards refuse the first unit of both sides, as quotes with depth say', async () => {
    const { chain, deployment } = market.setup;
    const loss = (drawdownE6: number) =>
      packedStopLossExtension(deployment, { drawdownE6, decayPerSecondE18: 0n, timelockSecs: 60 });
    const open = await guarded(loss(100_000));
    const [oneSided, stopped] = [await guarded(loss(10_000)), await guarded(loss(1))];
    const jumpy = await guarded(velocityExtension(deployment, 10n ** 15n));
    const hog = await deployContract(chain, 'GasHog', [0n]);
    const burnt = await guarded({ address: hog, phases: ['beforeSwap'] });
    for (const pool of [oneSided, stopped, jumpy]) await market.sell(pool, 50n * ONE);
    await market.buy(oneSided, 100n * ONE);
    await quote([oneSided, stopped], 206n);
    await market.buy(stopped, 10n * ONE);
    await quote([stopped, jumpy], 202n);

    const pools = [open, oneSided, stopped, jumpy, burnt];
    const { probe, closed } = await startProbe(pools);
    expect(await probe()).toBe(pools.length);
    expect(bothClosed(closed)).toEqual(new Set([stopped, jumpy, burnt].map(({ pool }) => pool)));
    const quotes = await quotesOf(pools);
    expect(quotes.map((each) => each?.priceProviderStatus === 'pool_refused')).toEqual([
      false,
      false,
      true,
      true,
      true,
    ]);
    expect(quotes.slice(0, 2).map((each) => each?.depth?.bids.length === 0)).toEqual([false, true]);

    await chain.client.mine({ blocks: CALM_BLOCKS });
    await quote([stopped], 206n);
    expect(await probe()).toBe(pools.length - 1);
    expect(bothClosed(closed)).toEqual(new Set([burnt.pool]));
    const reopened = await quotesOf(pools);
    expect(reopened.map((each) => each?.priceProviderStatus === 'pool_refused')).toEqual([
      false,
      false,
      false,
      false,
      true,
    ]);
  });

  test('are open at a price of 1, at which an input of one unit buys less than one unit', async () => {
    const { chain, deployment } = market.setup;
    const hog = await deployContract(chain, 'GasHog', [1_500_000n]);
    const pools = [
      await guarded(velocityExtension(deployment, 10n ** 18n)),
      await guarded({ address: hog, phases: ['beforeSwap'] }),
    ];
    await quote(pools, 100n);
    const { probe, closed } = await startProbe(pools);
    await probe();
    expect(pools.filter(({ pool }) => closed.has(pool))).toEqual([]);
    const quotes = await quotesOf(pools);
    expect(quotes.map((each) => each?.priceProviderStatus)).toEqual(['healthy', 'healthy']);
  });

  test('have an error that is in no table logged once, with selector and pool', async () => {
    const { chain, deployment } = market.setup;
    const own = await guarded(velocityExtension(deployment, 10n ** 18n));
    const { pool } = own;
    const hog = await deployContract(chain, 'GasHog', [0n]);
    const foreign = await guarded({ address: hog, phases: ['beforeSwap'] });
    const { probe, closed, unknown } = await startProbe([own, foreign]);
    await takenBack(chain, async () => {
      for (const address of [deployment.priceVelocityGuard, hog]) {
        await chain.client.setCode({ address, bytecode: UNKNOWN_REVERT });
      }
      for (let round = 0; round < 3; round++) await probe();
    });
    const ofPools = unknown.filter((fields) => JSON.stringify(fields).includes(pool));
    expect(bothClosed(closed)).toContain(pool);
    expect(bothClosed(closed)).toContain(foreign.pool);
    expect(ofPools).toEqual([{ pool, selector: '0xdeadbeef' }]);
    expect(JSON.stringify(unknown)).not.toContain(foreign.pool);
  });

  const guarded = async (guard: ExtensionSpec): Promise<GuardedMarketPool> => ({
    ...(await market.fundedPool(() => [guard])),
    guard,
  });

  async function quote(pools: readonly MarketPool[], hundredths: bigint): Promise<void> {
    for (const { provider } of pools) await setQuote(market.setup.chain, provider, quoteAround(hundredths));
  }

  /** What a service says that was not asked before. */
  async function quotesOf(pools: readonly MarketPool[]) {
    const { chain, deployment } = market.setup;
    const addresses = pools.map(({ pool }) => pool);
    const api = await packedApi(
      { chain },
      addresses.map((address) => ({ address, deployment })),
    );
    const results = await api.results(addresses);
    return results.map((result) => ('quote' in result ? result.quote : undefined));
  }

  /** A probe of these pools, which are indexed, and those that it found closed. */
  async function startProbe(pools: readonly GuardedMarketPool[]) {
    const { chain, deployment } = market.setup;
    await index(pools);
    const { poolFactory, stopLoss, priceVelocityGuard } = deployment;
    const release = {
      contractVersion: 'v1',
      layout: 'packed',
      fromBlock: 0,
      poolFactory,
      stopLoss,
      priceVelocityGuard,
    };
    const deployments = [DeploymentConfig.parse(release)];
    const config = chainConfig(chain.chainId, [chain.rpcUrl], { deployments });
    let time = 0;
    const rpc = openChainRpc(config, 10_000);
    const unknown: unknown[] = [];
    const probe = createGuardProbe({
      chainId: config.chainId,
      now: () => time,
      budget: new CallBudget(10_000, CAPTURE_CLASSES, () => time),
      logUnknown: unknownErrorLog({ warn: (fields: unknown) => unknown.push(fields) }),
      rpcs: { funded: rpc, remaining: rpc },
      pools: async () => readGuardedPools(database, config, await readPoolValues(database, config)),
    });
    const next = async () => {
      time += PROBE_MS;
      return (await probe.run('funded')) + (await probe.run('remaining'));
    };
    return { probe: next, closed: probe.closed, unknown: unknown as readonly unknown[] };
  }

  async function index(pools: readonly GuardedMarketPool[]): Promise<void> {
    const { chain, deployment } = market.setup;
    const { token0, token1 } = market;
    const of = { chainId: chain.chainId, factory: deployment.poolFactory, token0, token1 };
    const seeder = openSeeder(testDatabase.url);
    for (const address of [token0, token1]) await seedToken(seeder.db, { chainId: chain.chainId, address });
    await seedPools(
      seeder.db,
      pools.map(({ pool: address }) => ({ pool: { ...of, address } })),
    );
    const blockStamp = { blockNumber: 1, blockTimestamp: 1 };
    const rows = pools.map(({ pool, guard: { address, phases } }) => ({ pool, address, phases: [...phases] }));
    await seeder.db
      .insert(poolExtension)
      .values(rows.map((row) => ({ ...row, ...blockStamp, chainId: chain.chainId, position: 1 })));
    await seeder.end();
  }
});
