import pg from 'pg';
import { type Address, parseEventLogs } from 'viem';
import { expect, test } from 'vitest';
import { ChainDay } from '../../api/adapters/defillama-declaration.ts';
import { DeploymentConfig } from '../../config/chains-schema.ts';
import { flatPoolEvents } from '../../protocol/layouts/flat/pool-abi.ts';
import { openWorld } from '../harness/open-world.ts';
import { rawAmount } from '../indexing/activity-from-logs.ts';
import { connectExact, type IndexedPool, readIndexedPools } from '../indexing/indexed-pools.ts';
import type { IndexedWorld, WorldChain } from '../indexing/indexed-world.ts';
import { chainConfig } from '../quotes/quote-world.ts';
import { daysOf, expectDays, priceDays } from './day-equals-logs.ts';
import { serveSites } from './serve-sites.ts';
import { type KeptChain, type KeptEvent, walkSite } from './walk-site.ts';

/** More than the finality windows of both chains. */
const BLOCKS_TO_FINALITY = 70;
/** The newest block that sites get is this much older than the index. */
const SETTLED_SECS = 60;
const MINUTE = 60;
const DAY = 86_400;
const BLOCKS_IN_DAY = 10;

/** A log that moved tokens of a pool: an event for sites, unless it is a collection of fees or moved too little. */
type Moved = Omit<KeptEvent, 'maker' | 'transactionIndex' | 'timestamp' | 'type'> & {
  readonly isSwap: boolean;
  readonly isShown: boolean;
};

/** Tests of what listing sites have after a walk: all of it is compared with what the chains logged. */
export function testSites(world: IndexedWorld): void {
  const opened = openWorld(async (ends) => {
    const database = ends.adopt(new pg.Pool({ connectionString: world.databaseUrl, max: 4 }), (pool) => pool.end());
    // Dropping the database ends its sessions.
    database.on('error', () => undefined);
    const exact = ends.adopt(await connectExact(world.databaseUrl), (client) => client.end());
    const chains = world.chains.map(({ chainId, anvil, scenario }) => {
      const { poolFactory } = scenario.deployment;
      const deployment = { contractVersion: 'v1', layout: 'flat', fromBlock: 0, poolFactory };
      return chainConfig(chainId, [anvil.url], { deployments: [DeploymentConfig.parse(deployment)] });
    });
    return { ...serveSites(database, chains), exact, database };
  });

  const walk = ({ chainId, scenario }: WorldChain): Promise<KeptChain> => {
    const tokens = new Map(scenario.tokens.map(({ address, decimals }) => [address as string, decimals]));
    return walkSite(opened.askOf(chainId), async (token) => tokens.get(token) ?? Number.NaN);
  };

  const latestBlock = async ({ chainId }: WorldChain) => {
    const { json } = await opened.askOf(chainId)('latest-block');
    return (json as { readonly block: KeptChain['until'] }).block.blockNumber;
  };

  test('a walk from the first to the last block has every trade and change of liquidity that the chain logged', async () => {
    // With blocks enough beyond finality for the newest final one to be old enough.
    for (const { client } of world.chains)
      await client.request({ method: 'anvil_mine', params: [BLOCKS_TO_FINALITY, SETTLED_SECS] } as never);
    await world.catchUp();
    for (const chain of world.chains) {
      // A block is final a little after it is indexed.
      const newest = Number(await chain.client.getBlockNumber());
      await expect.poll(() => latestBlock(chain)).toBeGreaterThan(newest - BLOCKS_TO_FINALITY);
      const { until, pairs } = await walk(chain);
      const pools = await readIndexedPools(opened.exact, chain.chainId);
      let shown = 0;
      for (const [address, pool] of pools) {
        const events = pairs.get(address);
        if (!events) continue;
        const moved = await movedBy(chain, address, pool, until.blockNumber);
        expect(events.map(({ maker, transactionIndex, timestamp, type, ...event }) => event)).toEqual(
          moved.filter(({ isShown }) => isShown).map(({ isShown: _, isSwap: _kind, ...event }) => event),
        );
        shown += events.length;
        await expectTotals(chain.chainId, address, { moved, events });
      }
      expect(shown).toBeGreaterThan(50);
      await expectMakers(chain, pairs);
      const { rows } = await opened.exact.query('SELECT pool FROM read_model.delisted_pool WHERE chain_id = $1', [
        chain.chainId,
      ]);
      const delisted = new Set(rows.map(({ pool }) => pool));
      await expectOthersAreOdd(chain, new Set([...pairs.keys(), ...delisted]), until.blockNumber);
    }
  });

  test('days for DefiLlama sum up what the chain logged', async () => {
    for (const { client } of world.chains) {
      // Past the end of the next day, which has final blocks, and final ones after it.
      const { timestamp } = await client.getBlock();
      const end = (Math.floor(Number(timestamp) / DAY) + 2) * DAY;
      await client.request({ method: 'evm_setNextBlockTimestamp', params: [end - BLOCKS_IN_DAY * MINUTE] } as never);
      await client.request({ method: 'anvil_mine', params: [BLOCKS_IN_DAY + BLOCKS_TO_FINALITY, MINUTE] } as never);
    }
    await world.catchUp();
    // Other prices, and what was written of trades at them.
    const tables = ['trade_bar', 'trade_mark', 'fiat_price_minute', 'fiat_price_hour'];
    await opened.database.query(tables.map((table) => `DELETE FROM history.${table}`).join(';'));
    for (const chain of world.chains) {
      const days = await daysOf(chain);
      const ask = (day: number) => opened.app.request(`/adapters/defillama/${chain.chainId}?timestamp=${day}`);
      const areFinal = async () => {
        await priceDays(opened.database, days);
        return Promise.all(days.map(async (day) => (await ask(day)).status));
      };
      // Each time it writes all days.
      await expect.poll(areFinal, { interval: 500 }).toEqual(days.map(() => 200));
      const answers = await Promise.all(days.map(async (day) => ChainDay.parse(await (await ask(day)).json())));
      const { rows } = await opened.database.query(
        `SELECT address, token0_decimals AS decimals0, token1_decimals AS decimals1 FROM read_model.pool
         WHERE chain_id = $1 AND address NOT IN (SELECT pool FROM read_model.delisted_pool WHERE chain_id = $1)`,
        [chain.chainId],
      );
      const indexed = await readIndexedPools(opened.exact, chain.chainId);
      const pools = rows.map(
        ({ address, ...decimals }) => [address, { ...indexed.get(address), ...decimals }] as const,
      );
      await expectDays(chain, answers, new Map(pools));
    }
  });

  /** What SQL sums up of the pool is the sum of its logs. */
  async function expectTotals(
    chainId: number,
    pool: Address,
    { moved, events }: { readonly moved: readonly Moved[]; readonly events: readonly KeptEvent[] },
  ): Promise<void> {
    const { rows } = await opened.exact.query(
      `SELECT s.balance0_raw, s.balance1_raw, a.swap_count, a.swap_in0_raw, a.swap_in1_raw, a.swap_out0_raw, a.swap_out1_raw
       FROM read_model.pool_state s JOIN read_model.pool_activity a USING (chain_id, pool)
       WHERE chain_id = $1 AND pool = $2 ORDER BY a.block_timestamp DESC LIMIT 1`,
      [chainId, pool],
    );
    const sums = [0, 1].map((token) => moved.reduce((sum, { amounts }) => sum + (amounts[token] ?? 0n), 0n));
    expect([rows[0]?.balance0_raw, rows[0]?.balance1_raw]).toEqual(sums);
    // The totals that metadata shows differences of.
    const swaps = events.filter(({ type }) => type === 'swap');
    if (moved.filter(({ isSwap, isShown }) => isSwap && !isShown).length > 0) return;
    const total = (token: 0 | 1, sign: bigint) =>
      swaps.reduce((sum, { amounts }) => sum + (amounts[token] * sign > 0n ? amounts[token] * sign : 0n), 0n);
    const [swapIn0, swapIn1, swapOut0, swapOut1] = [total(0, 1n), total(1, 1n), total(0, -1n), total(1, -1n)];
    expect(rows[0]).toMatchObject({ swap_in0_raw: swapIn0, swap_in1_raw: swapIn1 });
    expect(rows[0]).toMatchObject({ swap_out0_raw: swapOut0, swap_out1_raw: swapOut1, swap_count: swaps.length });
  }
}

/** The logs of a pool that moved tokens, straight from the node, with what the pool held after each. */
async function movedBy({ client }: WorldChain, address: Address, pool: IndexedPool, until: number): Promise<Moved[]> {
  const logs = await client.getLogs({ address, fromBlock: 0n, toBlock: BigInt(until) });
  let held: readonly [bigint, bigint] = [0n, 0n];
  return parseEventLogs({ abi: flatPoolEvents, logs }).flatMap((log) => {
    const amounts = amountsOf(log, pool);
    if (amounts === null) return [];
    held = [held[0] + amounts[0], held[1] + amounts[1]];
    const isSwap = log.eventName === 'Swap';
    const isNothing = isSwap ? amounts.includes(0n) : amounts.every((amount) => amount === 0n);
    const reserves = [held[0] > 0n ? held[0] : 0n, held[1] > 0n ? held[1] : 0n] as const;
    return {
      block: Number(log.blockNumber),
      transaction: log.transactionHash,
      index: log.logIndex,
      amounts,
      reserves,
      isSwap,
      isShown: !isNothing && log.eventName !== 'ProtocolFeesCollected',
    };
  });
}

type PoolLog = ReturnType<typeof parseEventLogs<typeof flatPoolEvents, true>>[number];

function amountsOf(log: PoolLog, pool: IndexedPool): readonly [bigint, bigint] | null {
  if (log.eventName === 'Swap') return [log.args.amount0Delta, log.args.amount1Delta];
  if (log.eventName === 'LiquidityAdded' || log.eventName === 'LiquidityRemoved')
    return [rawAmount(log.args.binBalanceDeltas, 0, pool), rawAmount(log.args.binBalanceDeltas, 1, pool)];
  if (log.eventName !== 'ProtocolFeesCollected') return null;
  const { amount0ToProtocol, amount1ToProtocol, amount0ToAdmin, amount1ToAdmin } = log.args;
  return [-amount0ToProtocol - amount0ToAdmin, -amount1ToProtocol - amount1ToAdmin];
}

/** Makers, places of transactions and times are those of the chain. */
async function expectMakers({ client }: WorldChain, pairs: KeptChain['pairs']): Promise<void> {
  const expectMaker = async ({ transaction, transactionIndex, maker, block, timestamp }: KeptEvent) => {
    const [sent, { timestamp: ofBlock }] = await Promise.all([
      client.getTransaction({ hash: transaction as Address }),
      client.getBlock({ blockNumber: BigInt(block) }),
    ]);
    expect([maker, transactionIndex, timestamp]).toEqual([
      sent.from.toLowerCase(),
      sent.transactionIndex,
      Number(ofBlock),
    ]);
  };
  await Promise.all([...pairs.values()].flat().map(expectMaker));
}

/** Pools that a site did not meet, and that are not delisted, traded nothing or have a token that would stop it. */
async function expectOthersAreOdd({ client, scenario }: WorldChain, known: ReadonlySet<string>, until: number) {
  const tokens = new Map(scenario.tokens.map((token) => [token.address, token]));
  for (const { address, token0, token1, name } of scenario.pools) {
    if (known.has(address)) continue;
    const logs = await client.getLogs({ address, fromBlock: 0n, toBlock: BigInt(until) });
    const traded = parseEventLogs({ abi: flatPoolEvents, logs }).some(({ eventName }) => eventName === 'Swap');
    const isOdd = [token0, token1].some((token) => !tokens.get(token)?.symbol || tokens.get(token)?.decimals === null);
    expect([name, traded && !isOdd]).toEqual([name, false]);
  }
}
