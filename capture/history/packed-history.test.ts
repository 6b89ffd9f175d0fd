import pg from 'pg';
import { type Hex, parseEventLogs, type TransactionReceipt } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import { type ChainConfig, DeploymentConfig, HistoryConfig, MULTICALL3 } from '../../config/chains-schema.ts';
import { writeTradeMinutes } from '../../db/history/trade-minutes.ts';
import { sendSwap } from '../../devnet/actions.ts';
import { loadArtifact } from '../../devnet/artifacts.ts';
import { minedTogether } from '../../devnet/dev-chain.ts';
import { packedPoolEvents } from '../../devnet/packed/abi.ts';
import { amountsOf, packedSwapAmounts } from '../../devnet/packed/actions.ts';
import { type MarketPool, ONE, PackedMarket, quoteAround } from '../../devnet/packed/market.fixture.ts';
import { setQuote } from '../../devnet/packed/providers.ts';
import { packedVariant } from '../../devnet/packed/variants.ts';
import { swap as swapTable } from '../../indexer/ponder.schema.ts';
import { createMigratedDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { createOnchainTables, setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { openSeeder, type Seeder, seedPools, seedToken } from '../../test/harness/seed-pools.ts';
import { DISTANCES, depthByTrying, pricesOf } from '../../test/quotes/depth-by-trying.ts';
import { expectSwapGas } from '../../test/quotes/expect-swap-gas.ts';
import { chainConfig } from '../../test/quotes/quote-world.ts';
import { servedPool } from '../../test/quotes/served-pool.ts';
import { readPoolValues } from '../read-schedule/pool-values.ts';
import { createDepthRecorder } from './record-depth.ts';
import { recordFills } from './record-fills.ts';
import { recordQuotes } from './record-quotes.ts';

// One simulates swaps with a sender, the other without one.
describe.each(['sumOnEdges', 'sumOnPrice'] as const)('packed pools that charge by the rule %s', (rule) => {
  let market: PackedMarket;
  let testDatabase: TestDatabase;
  let database: pg.Pool;
  let seeder: Seeder;
  let config: ChainConfig;

  beforeAll(async () => {
    [market, testDatabase] = await Promise.all([PackedMarket.open(packedVariant(rule)), createMigratedDatabase()]);
    const { chain, deployment } = market.setup;
    const { deployedBytecode: bytecode } = loadArtifact('Multicall3');
    await chain.client.setCode({ address: MULTICALL3, bytecode });
    database = new pg.Pool({ connectionString: testDatabase.url, max: 2 });
    database.on('error', () => undefined); // Dropping the database ends its sessions.
    await createOnchainTables(database);
    seeder = openSeeder(testDatabase.url);
    const { chainId } = chain;
    for (const address of [market.token0, market.token1]) await seedToken(seeder.db, { chainId, address });
    await database.query("INSERT INTO operator.fiat_price VALUES ($1, $2, 1, 'static', now())", [
      chainId,
      market.token0,
    ]);
    const { poolFactory } = deployment;
    const release = { contractVersion: 'v1', layout: 'packed', fromBlock: 0, poolFactory };
    config = chainConfig(chainId, [chain.rpcUrl], { deployments: [DeploymentConfig.parse(release)] });
  });

  afterAll(async () => {
    await seeder?.end();
    await database?.end();
    await Promise.all([market?.setup.anvil.stop(), testDatabase?.drop()]);
  });

  /** A pool that is indexed and funded. */
  async function fundedPool(): Promise<MarketPool> {
    const made = await market.fundedPool();
    const { chain, deployment } = market.setup;
    const { immutables } = await servedPool(chain, deployment, made.pool, 'bidAsk', 'packed');
    const { lowestBin, highestBin } = immutables;
    const { token0, token1 } = market;
    const of = {
      chainId: chain.chainId,
      address: made.pool,
      factory: deployment.poolFactory,
      priceProvider: made.provider,
    };
    const state = { balance0Raw: 10n ** 30n };
    await seedPools(seeder.db, [{ pool: { ...of, token0, token1, lowestBin, highestBin }, state }]);
    return made;
  }

  const send = ({ pool }: MarketPool, zeroForOne: boolean, amountSpecified: bigint) => {
    const { chain, deployment } = market.setup;
    return sendSwap(chain, deployment, { pool, zeroForOne, amountSpecified });
  };

  async function index(receipts: readonly TransactionReceipt[]): Promise<void> {
    const { chain } = market.setup;
    for (const { logs, blockNumber, transactionHash, transactionIndex, from: transactionFrom } of receipts) {
      const { timestamp } = await chain.client.getBlock({ blockNumber });
      for (const { args, address, logIndex } of parseEventLogs({ abi: packedPoolEvents, eventName: 'Swap', logs })) {
        const { amount0Delta: amount0Raw, amount1Delta: amount1Raw } = amountsOf(args.amountDeltas);
        const place = { chainId: chain.chainId, blockNumber: Number(blockNumber), blockTimestamp: Number(timestamp) };
        const pool = address.toLowerCase() as Hex;
        const sent = { sender: args.sender, recipient: args.recipient, transactionIndex, transactionFrom };
        const who = { ...sent, exactInput: true };
        const moved = { zeroForOne: amount0Raw > 0n, amount0Raw, amount1Raw, parts: '{}' };
        await seeder.db.insert(swapTable).values({ ...place, logIndex, transactionHash, pool, ...who, ...moved });
      }
    }
    await indexHead(false);
  }

  async function indexHead(isFinal: boolean): Promise<void> {
    const { chain } = market.setup;
    const { number, timestamp } = await chain.client.getBlock();
    await setIndexedBlock(database, {
      chainId: chain.chainId,
      number: Number(number),
      timestamp: Number(timestamp),
      isFinal,
    });
  }

  const pools = () => readPoolValues(database, config);

  function record(): Promise<number> {
    const rpc = openChainRpc(config, 5_000);
    return recordFills({ database, chainId: config.chainId, rpc, hasSpareCalls: () => true, pools });
  }

  test('get what they quoted to the unit while the price stands, and show up when it moves against each taker', async () => {
    const [honest, moved] = [await fundedPool(), await fundedPool()];
    const { chain } = market.setup;
    const receipts = [
      await send(honest, true, 3n * ONE),
      await send(honest, false, 2n * ONE + 12_345n),
      await send(honest, true, 250n * ONE),
    ];
    let hundredths = 200n;
    for (let n = 0; n < 3; n++) {
      hundredths -= 1n;
      const quote = quoteAround(hundredths);
      const [quoted, sold] = await minedTogether(chain, async () => {
        const sent = setQuote(chain, moved.provider, quote);
        const pending = async () => (await chain.client.getTxpoolStatus()).pending;
        await expect.poll(pending).toBe(1);
        const sale = send(moved, true, ONE);
        await expect.poll(pending).toBe(2);
        return [sent, sale] as const;
      });
      await quoted;
      receipts.push(await sold);
    }
    await index(receipts);
    expect(await record()).toBe(6);
    await chain.client.increaseTime({ seconds: 120 });
    await chain.client.mine({ blocks: 1 });
    await indexHead(true);
    await record();
    await writeTradeMinutes(database);
    const { rows: fills } = await database.query(
      'SELECT quoted_out_raw::text AS quoted, out_raw::text AS got FROM read_model.swap_fills() WHERE pool = $1',
      [honest.pool],
    );
    expect(fills).toHaveLength(3);
    for (const { quoted, got } of fills) expect(quoted).toBe(got);
    const { rows: quality } = await database.query('SELECT * FROM read_model.fill_quality ORDER BY day_ts');
    const of = ({ pool }: MarketPool) => quality.filter((row) => row.pool === pool);
    for (const day of of(honest)) expect(day).toMatchObject({ worst_bps: 0, worse_share: 0, within_1bp_share: 1 });
    expect(of(moved).length).toBeGreaterThan(0);
    for (const day of of(moved)) {
      expect(day).toMatchObject({ worse_share: 1, within_1bp_share: 0, unknown_share: 0 });
      expect(day.median_bps).toBeCloseTo(-50, 0);
    }
  });

  test('have the depth that their own swaps leave within the distance, and the gas that they take', async () => {
    const { chain, deployment } = market.setup;
    const { pool: address } = await fundedPool();
    const tried = { chain, address, swapRouter: deployment.swapRouter, amountsOf: packedSwapAmounts };
    const { number, timestamp } = await chain.client.getBlock();
    const { sellX64, buyX64 } = await pricesOf(tried);
    await database.query(`INSERT INTO operator.price_health VALUES ($1, $2, 'healthy', $3, $4, $5, $6, now())`, [
      chain.chainId,
      address,
      String(sellX64),
      String(buyX64),
      Number(number),
      Number(timestamp),
    ]);
    const logger = { warn: () => undefined, child: () => logger } as never;
    const rpc = openChainRpc(config, 10_000);
    const recordDepth = createDepthRecorder({
      database,
      chain: config,
      rpc,
      reserve: () => true,
      wallClock: () => Date.now(),
      logger,
    });
    const deps = { database, chainId: chain.chainId, pools, kept: HistoryConfig.parse({}), recordDepth };
    await recordQuotes(deps, Number(timestamp));
    const { rows } = await database.query(
      'SELECT bid_depth_raw::text[] AS bids, ask_depth_raw::text[] AS asks FROM history.quote_minute WHERE pool = $1',
      [address],
    );
    for (const [name, zeroForOne] of [
      ['bids', true],
      ['asks', false],
    ] as const) {
      for (const [n, bps] of DISTANCES.entries()) {
        const found = await depthByTrying(tried, zeroForOne, bps);
        const difference = BigInt(rows[0][name][n]) - found;
        // Where fees act on each price, the pool rounds the one that it shows otherwise: by a unit of Q64.64.
        const most = rule === 'sumOnEdges' ? 0n : found / 10n ** 15n;
        expect(difference < 0n ? -difference : difference).toBeLessThanOrEqual(most);
        expect(found).toBeGreaterThan(0n);
      }
    }
    await expectSwapGas(database, tried);
  });
});
