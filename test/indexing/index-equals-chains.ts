import type pg from 'pg';
import { describe, expect, test } from 'vitest';
import { servedSchema } from '../../db/served-schema.ts';
import { sendRequest } from '../../runtime/http-request.ts';
import { openWorld } from '../harness/open-world.ts';
import { activityOf, sumLoggedActivity } from './activity-from-logs.ts';
import { readBinSwaps, readPriceVelocity, readProvider, readStopLoss, readWatermark } from './chain-facts.ts';
import { readChainPools } from './chain-pools.ts';
import { connectExact, readIndexedPools } from './indexed-pools.ts';
import type { IndexedWorld, WorldChain } from './indexed-world.ts';

const ACTIONS_LIVE = 40;
const REORGANISED_BLOCKS = 15;

/** Tests of what the indexer keeps: all of it is compared with what the chains answer. */
export function testIndex(world: IndexedWorld): void {
  const opened = openWorld(async (ends) => ({
    database: ends.adopt(await connectExact(world.databaseUrl), (client) => client.end()),
  }));

  /** Slot by slot and getter by getter; answers how many pools there were. */
  async function expectIndexToEqualChain({ chainId, client, scenario }: WorldChain): Promise<number> {
    const onChain = await readChainPools(client, scenario.deployment.poolFactory);
    const indexed = await readIndexedPools(opened.database, chainId);
    for (const [address, pool] of onChain) expect(indexed.get(address), address).toEqual(pool);
    expect([...indexed.keys()].sort()).toEqual([...onChain.keys()].sort());
    return onChain.size;
  }

  async function expectIndexToEqualChains(): Promise<void> {
    await world.catchUp();
    for (const chain of world.chains) expect(await expectIndexToEqualChain(chain)).toBeGreaterThanOrEqual(14);
  }

  async function countSwapsAfter(chainId: number, block: number): Promise<number> {
    const sql = 'SELECT count(*) AS n FROM live.swap WHERE chain_id = $1 AND block_number > $2';
    return (await opened.database.query(sql, [chainId, block])).rows[0]?.n;
  }

  describe('state kept from events alone equals the storage of the pools', () => {
    test('after history', expectIndexToEqualChains);

    test('after following the chains live', async () => {
      await world.act(ACTIONS_LIVE);
      await expectIndexToEqualChains();
      for (const { traffic } of world.chains) expect(traffic.counts().done).toBeGreaterThan(90);
    });

    test('without what Ponder would do at each row for live queries', async () => {
      const sql = "SELECT tgname FROM pg_trigger WHERE tgname LIKE 'live_query%'";
      expect((await opened.database.query(sql)).rows).toEqual([]);
    });

    test('with one statement for all tables that a block may change', async () => {
      const { text } = await sendRequest(`${world.indexer.url}/metrics`, { timeoutMs: 30_000 });
      const countOf = (method: string) =>
        Number(new RegExp(`^ponder_database_method_duration_count{method="${method}"} (\\d+)$`, 'm').exec(text)?.[1]);
      expect(countOf('commit_block')).toBeGreaterThan(ACTIONS_LIVE / 2);
      expect(countOf('commit_block')).toBeLessThan(countOf('update_checkpoints'));
    });

    // The running totals below would count an event twice.
    test('after commits that failed, and commits whose acknowledgement was lost', async () => {
      const schema = await servedSchema(opened.database);
      await opened.database.query(`
      CREATE SEQUENCE commits; GRANT USAGE ON SEQUENCE commits TO ptd_indexer;
      CREATE FUNCTION fail_at_commit() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF nextval('commits') % 3 = 0 THEN RAISE serialization_failure; END IF;
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER fail_at_commit AFTER UPDATE ON "${schema}"._ponder_checkpoint
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
        WHEN (OLD.latest_checkpoint <> NEW.latest_checkpoint) EXECUTE FUNCTION fail_at_commit()`);
      await world.act(15);
      await world.catchUp();
      const [{ last_value }] = (await opened.database.query('SELECT last_value FROM commits')).rows;
      expect(last_value).toBeGreaterThan(10);
      await opened.database.query(`DROP FUNCTION fail_at_commit CASCADE; DROP SEQUENCE commits`);
      world.loseAcknowledgements(6);
      await world.act(15);
      await expectIndexToEqualChains();
    });

    test('after a reorganisation that replaces swaps by nothing, and further actions', async () => {
      const [first] = world.chains;
      if (first === undefined) throw new Error('no chain');
      const kept = Number(await first.client.getBlockNumber()) - REORGANISED_BLOCKS;
      expect(await countSwapsAfter(first.chainId, kept)).toBeGreaterThan(0);
      await first.client.request({ method: 'anvil_reorg', params: [REORGANISED_BLOCKS, []] } as never);
      // The index learns of it with the next block.
      await first.client.request({ method: 'anvil_mine', params: [] } as never);
      await expectIndexToEqualChains();
      expect(await countSwapsAfter(first.chainId, kept)).toBe(0);
      await world.act(20);
      await expectIndexToEqualChains();
    });
  });

  describe('what else is indexed equals what the chains answer', () => {
    const select = async (sql: string, values: readonly unknown[]) =>
      (await opened.database.query(sql, [...values])).rows;

    test('tokens, with those that answer oddly or not at all', async () => {
      for (const { chainId, scenario } of world.chains) {
        const rows = await select('SELECT address, symbol, name, decimals FROM live.token WHERE chain_id = $1', [
          chainId,
        ]);
        const listed = new Set(scenario.pools.flatMap(({ token0, token1 }) => [token0, token1]));
        const expected = scenario.tokens
          .filter(({ address }) => listed.has(address))
          .map(({ address, symbol, name, decimals }) => ({
            address,
            symbol: symbol || null,
            name: name || null,
            decimals,
          }));
        expect(sortByAddress(rows)).toEqual(sortByAddress(expected));
        expect(expected.filter(({ symbol }) => symbol === null)).not.toEqual([]);
      }
    });

    test('settings and marks of StopLoss and PriceVelocityGuard', async () => {
      for (const { chainId, client, scenario } of world.chains) {
        const { stopLoss, priceVelocityGuard } = scenario.deployment;
        for (const { address: pool, name } of scenario.pools) {
          const rowsOf = (columns: string, table: string, address: string) =>
            select(`SELECT ${columns} FROM live.${table} WHERE chain_id = $1 AND address = $2 AND pool = $3`, [
              chainId,
              address,
              pool,
            ]);
          const [stop] = await rowsOf('drawdown_e6, decay_per_second_e8, timelock_secs', 'stop_loss', stopLoss);
          expect(stop ?? null, name).toEqual(await readStopLoss(client, stopLoss, pool));
          const guardColumns = 'max_change_per_block_e18, last_mid_price_x64, last_mid_price_block';
          const [guard] = await rowsOf(guardColumns, 'price_velocity', priceVelocityGuard);
          expect(guard ?? null, name).toEqual(await readPriceVelocity(client, priceVelocityGuard, pool));
          const markColumns = 'bin_idx, watermark_token0, watermark_token1';
          for (const { bin_idx, ...mark } of await rowsOf(markColumns, 'stop_loss_watermark', stopLoss)) {
            expect(mark, `${name}, bin ${bin_idx}`).toEqual(await readWatermark(client, stopLoss, pool, bin_idx));
          }
        }
      }
    });

    test('providers of the known factories', async () => {
      for (const { chainId, client } of world.chains) {
        const providers = await select(
          `SELECT p.*, s.source, s.confidence_param
         FROM live.price_provider p LEFT JOIN live.price_provider_setting s USING (chain_id, address)
         WHERE p.chain_id = $1`,
          [chainId],
        );
        expect(new Set(providers.map(({ kind }) => kind))).toContain('anchored');
        for (const provider of providers) {
          expect(provider).toMatchObject(await readProvider(client, provider.address, provider.kind));
        }
      }
    });

    test('the bins of every swap, as SQL readers see them', async () => {
      for (const { chainId, client, scenario } of world.chains) {
        const rows = await select(
          `SELECT pool, block_number, log_index, transaction_hash, bin_idx, delta0_scaled, delta1_scaled, lp_fee_scaled
         FROM read_model.bin_swap WHERE chain_id = $1 ORDER BY block_number, log_index`,
          [chainId],
        );
        const logs = await readBinSwaps(client, [
          ...(await readChainPools(client, scenario.deployment.poolFactory)).keys(),
        ]);
        expect(rows).toEqual(logs);
        expect(new Set(rows.map(({ transaction_hash }) => transaction_hash)).size).toBeLessThan(rows.length);
      }
    });

    test('the transaction of every swap and liquidity change: its place, who sent it, to which contract', async () => {
      for (const { chainId, client } of world.chains) {
        const rows = await select(
          `SELECT transaction_hash AS hash, transaction_from, transaction_to, transaction_index
           FROM read_model.swap WHERE chain_id = $1
           UNION
           SELECT transaction_hash, transaction_from, transaction_to, transaction_index
           FROM read_model.liquidity_change WHERE chain_id = $1 ORDER BY 1`,
          [chainId],
        );
        expect(rows.length).toBeGreaterThan(10);
        const transactions = await Promise.all(rows.map(({ hash }) => client.getTransaction({ hash })));
        expect(rows).toEqual(
          transactions.map(({ hash, from, to, transactionIndex }) => ({
            hash,
            transaction_from: from.toLowerCase(),
            transaction_to: to?.toLowerCase() ?? null,
            transaction_index: transactionIndex,
          })),
        );
      }
    });

    test('running totals of every pool are the sums over its raw logs', async () => {
      for (const { chainId, client } of world.chains) {
        for (const [address, pool] of await readIndexedPools(opened.database, chainId)) {
          const [row] = await select(
            `SELECT * FROM read_model.pool_activity WHERE chain_id = $1 AND pool = $2 ORDER BY block_timestamp DESC LIMIT 1`,
            [chainId, address],
          );
          const logged = await sumLoggedActivity(client, address, pool);
          if (row === undefined) expect(logged.transferCount + logged.swapCount, address).toBe(0);
          else expect(activityOf(row), address).toEqual(logged);
        }
      }
    });
  });
}

function sortByAddress(rows: readonly pg.QueryResultRow[]): pg.QueryResultRow[] {
  return [...rows].sort((a, b) => (a.address < b.address ? -1 : 1));
}
