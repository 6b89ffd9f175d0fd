import pg from 'pg';
import type { Address } from 'viem';
import { expect, onTestFinished, test } from 'vitest';
import { migratedDatabase } from '../../test/harness/migrated-database.ts';
import { createOnchainTables, ONCHAIN_SCHEMA, setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { planBackfill, readNodeTurns, recordServed } from './plan.ts';
import { type InferredFactory, readRepairedLogs, readRepairs } from './repair.ts';

const [CHAIN, OTHER] = [1, 56];
const database = migratedDatabase();

/** A pool of each chain that differs since three comparisons; `agreed` is the last block at which it did not. */
async function differ(chainId: number, agreed: number | null): Promise<void> {
  await database.pool.query(
    `INSERT INTO operator.index_audit VALUES ($1, $2, $2, $3, now(), 90, $4, NULL, now() - interval '1 minute', now(), '{totals}', '{}')
     ON CONFLICT (chain_id, address) DO UPDATE SET agreed_block = excluded.agreed_block`,
    [chainId, `0x${'a'.repeat(40)}`, ONCHAIN_SCHEMA, agreed],
  );
}

/** Ends a repair of what is due for one, begun so many minutes ago. @returns its number in a row */
async function repair(minutesAgo: number): Promise<number> {
  const { fromBlocks, attempts } = await readRepairs(database.pool, []);
  const refetch = [...fromBlocks.keys()];
  const plan = await planBackfill(database.pool, { refetch, attempts, fresh: false });
  await recordServed(database.pool, plan);
  const begun = `now() - interval '${minutesAgo} minutes'`;
  await database.pool.query(`UPDATE operator.backfill SET begun_at = ${begun} WHERE schema = $1`, [plan.schema]);
  // The index that it filled is the one that serves: its name is that of these tests.
  await database.pool.query('UPDATE operator.backfill SET schema = gen_random_uuid() WHERE schema = $1', [plan.schema]);
  return plan.attempt;
}

const dueFor = async (inferred?: readonly InferredFactory[]) => [
  ...(await readRepairs(database.pool, inferred)).fromBlocks,
];
const due = () => dueFor([]);

/** Lets this time pass. */
const pass = (minutes: number) =>
  database.pool.query('UPDATE operator.backfill SET begun_at = begun_at - make_interval(mins => $1)', [minutes]);

test('what a repair does not end waits twice as long for each further one, a week at most; the rest does not', async () => {
  await createOnchainTables(database.pool);
  await database.pool.query(`DROP SCHEMA ponder_sync CASCADE; CREATE SCHEMA ponder_sync;
    CREATE TABLE ponder_sync.logs (chain_id int8, block_number int8);
    CREATE TABLE ponder_sync.intervals (chain_id int8, fragment_id text, blocks nummultirange)`);
  await differ(CHAIN, 50);
  expect(await due()).toEqual([[CHAIN, 51]]);
  expect(await repair(0)).toBe(1);
  // In its index, no comparison has agreed.
  await differ(CHAIN, null);
  await pass(19);
  expect(await due()).toEqual([]);
  expect(await dueFor()).toEqual([[CHAIN, 0]]);
  await differ(OTHER, 70);
  expect(await due()).toEqual([[OTHER, 71]]);
  await pass(2);
  expect(await due()).toEqual([
    [CHAIN, 0],
    [OTHER, 71],
  ]);
  expect(await repair(0)).toBe(2);
  await pass(39);
  expect(await due()).toEqual([[OTHER, 71]]);
  await pass(2);
  expect((await due()).length).toBe(2);
  await pass(20_000);
  for (const attempt of [3, 4, 5, 6, 7, 8, 9, 10]) {
    expect(await repair(10_081)).toBe(attempt);
    await pass(1);
  }
  expect((await due()).length).toBe(2);
  await database.pool.query(
    `UPDATE operator.backfill SET begun_at = begun_at + interval '3 minutes' WHERE attempt = 10`,
  );
  expect(await due()).toEqual([[OTHER, 71]]);
  // A comparison has agreed since: what differs now is another difference.
  await differ(CHAIN, 80);
  expect((await readRepairs(database.pool, [])).attempts.get(CHAIN)).toBe(1);
});

test('a repair of other pools or chains counts for none that it does not repair', async () => {
  await database.pool.query('TRUNCATE operator.index_audit, operator.backfill');
  await differ(CHAIN, null);
  await differ(OTHER, 70);
  expect(await repair(0)).toBe(1);
  await pass(21);
  expect(await repair(0)).toBe(2);
  // That was the second attempt of one chain, and the first one of the other.
  await differ(OTHER, null);
  await pass(21);
  expect(await due()).toEqual([[OTHER, 0]]);
  await pass(20);
  expect((await readRepairs(database.pool, [])).attempts).toEqual(
    new Map([
      [CHAIN, 3],
      [OTHER, 2],
    ]),
  );
  // Another pool of the chain is due while the first one waits: its repair leaves the wait of the first.
  expect(await repair(0)).toBe(3);
  await database.pool.query(
    `INSERT INTO operator.index_audit SELECT chain_id, $1, factory, index_schema, tried_at, audited_block, 90, suspected_at_block,
       differs_since, last_difference_at, differences, shown FROM operator.index_audit WHERE chain_id = $2`,
    [RIGHT, CHAIN],
  );
  await database.pool.query('DELETE FROM operator.index_audit WHERE chain_id = $1', [OTHER]);
  await database.pool.query('DELETE FROM operator.backfill WHERE attempt < 3');
  const found = async () => {
    const { fromBlocks, attempts } = await readRepairs(database.pool, []);
    return [...fromBlocks].map((each) => [...each, attempts.get(CHAIN)]);
  };
  await pass(11);
  expect(await found()).toEqual([[CHAIN, 91, 3]]);
  await pass(70);
  expect(await found()).toEqual([[CHAIN, 0, 4]]);
});

const FACTORY: Address = `0x${'c'.repeat(40)}`;
const WRONG = `0x${'d'.repeat(40)}`;
const RIGHT = `0x${'e'.repeat(40)}`;

/** What lastingly differs at first, what agrees elsewhere, and whether that pool agrees in all. */
test.each([
  ['balances, and admins agree', WRONG, ['binBalances0'], ['admin'], null, false],
  ['balances, and a pool without any agrees', WRONG, ['binBalances0', 'shares'], ['admin'], 80, false],
  ['balances, and others agree', WRONG, ['binBalances0'], ['liquidity'], null, true],
  ['shares, and balances agree', WRONG, ['shares'], ['liquidity'], null, false],
  ['shares, and others agree', WRONG, ['shares'], ['shares'], null, true],
  ['the number of pools, and no pool agrees', FACTORY, ['pools'], ['admin'], null, false],
  ['the number of pools, and a pool agrees', FACTORY, ['pools'], ['admin'], 80, true],
])(
  'of an inferred layout, repairs begin by themselves where it is read rightly: %s',
  async (...[, differing, facts, shown, agreed, isDue]) => {
    await database.pool.query('TRUNCATE operator.index_audit, operator.backfill');
    await database.pool.query(
      `INSERT INTO operator.index_audit VALUES
       ($1, $2, $3, $4, now(), 90, NULL, NULL, now() - interval '1 minute', now(), $5, '{provider}'),
       ($1, $6, $3, $4, now(), 90, $7, NULL, NULL, NULL, '{}', $8)`,
      [CHAIN, differing, FACTORY, ONCHAIN_SCHEMA, facts, RIGHT, agreed, shown],
    );
    const found = [[CHAIN, 0]];
    expect(await dueFor([{ chainId: CHAIN, factory: FACTORY }])).toEqual(isDue ? found : []);
    // Layouts of other factories are known; and whoever runs the command decides.
    expect(await dueFor([{ chainId: OTHER, factory: FACTORY }])).toEqual(found);
    expect(await dueFor()).toEqual(found);
    // What agreed once is read rightly.
    await database.pool.query('UPDATE operator.index_audit SET agreed_block = 70 WHERE address = $1', [differing]);
    expect(await dueFor([{ chainId: CHAIN, factory: FACTORY }])).toEqual([[CHAIN, 71]]);
  },
);

test('a repair after the first one of a chain asks its nodes in turn, as long as it runs', async () => {
  const attempts = new Map([[CHAIN, 3]]);
  const plan = await planBackfill(database.pool, { refetch: [CHAIN, OTHER], attempts, fresh: true });
  expect(await readNodeTurns(database.pool, plan.schema)).toEqual(new Map([[CHAIN, 1]]));
  await recordServed(database.pool, plan);
  expect(await readNodeTurns(database.pool, plan.schema)).toEqual(new Map());
});

test('logs that a repair put right are named, however long Postgres takes below the limit; else they are unknown', async () => {
  // Far longer than any other statement takes on a busy machine.
  const timeouts = { statement_timeout: 1_000, query_timeout: 1_000 };
  const limited = new pg.Pool({ connectionString: database.url, max: 1, ...timeouts });
  onTestFinished(() => limited.end());
  const [before, after] = [ONCHAIN_SCHEMA, 'onchain_slow'];
  await createOnchainTables(database.pool, after);
  await setIndexedBlock(database.pool, { chainId: CHAIN, number: 100, timestamp: 1, isFinal: true }, before);
  await database.pool.query(`DROP TABLE ${after}.fee_collection CASCADE; CREATE VIEW ${after}.fee_collection AS
    SELECT ${CHAIN}::int8 AS chain_id, '${WRONG}' AS pool, 60::int8 AS block_number, 3 AS log_index FROM pg_sleep(1.5)`);
  const read = (limitMs?: number) => readRepairedLogs(limited, { before, after }, new Map([[CHAIN, 51]]), limitMs);
  const fee = { change: 'missing', chainId: CHAIN, pool: WRONG, blockNumber: 60, logIndex: 3 };
  expect(await read()).toEqual([fee]);
  expect(await read(50)).toBe(null);
});
