import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { createIndexedDatabase } from '../../test/harness/indexed-database.ts';
import { ONCHAIN_SCHEMA, setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { openWorld, startedWorld } from '../../test/harness/open-world.ts';
import { FACTORY, openSeeder, seedAddress, seedPools } from '../../test/harness/seed-pools.ts';
import { readDue } from './audit-rows.ts';

const CHAIN = 5;
const FINAL = { chainId: CHAIN, number: 10, timestamp: 100, isFinal: true };
const POOL = seedAddress(1);
/** Guards of the pool. */
const [STOP_LOSS, VELOCITY_GUARD] = [seedAddress(24), seedAddress(25)] as const;
/** Allowlists: two of the pool, one of them with no log, and one of another pool. */
const [DEPOSITS, SWAPS, OTHER] = [seedAddress(21), seedAddress(22), seedAddress(23)] as const;
const [KEPT, ADDED, REMOVED] = [seedAddress(31), seedAddress(32), seedAddress(33)] as const;
const MAX_LIMIT = 2n ** 64n - 1n;
/** A checkpoint of a block that may be taken back. */
const LATER = '0000000110'.padEnd(75, '0');

const database = startedWorld(createIndexedDatabase);
const world = openWorld(async (ends) => {
  const pool = ends.adopt(new pg.Pool({ connectionString: database.url, max: 2 }), (it) => it.end());
  pool.on('error', () => undefined); // Dropping the database ends its sessions.
  return { pool };
});

beforeAll(async () => {
  const seeder = openSeeder(database.url);
  await seedPools(seeder.db, [{ pool: { chainId: CHAIN, address: POOL } }]);
  await seeder.end();
  const { client } = database;
  await client.query(`SET search_path = ${ONCHAIN_SCHEMA}; INSERT INTO _ponder_meta VALUES ('app', '{"is_ready": 1}')`);
  await setIndexedBlock(client, FINAL);
  await setIndexedBlock(client, { ...FINAL, number: 12, timestamp: 120, isFinal: false });
  await client.query(
    `INSERT INTO pool_extension SELECT $1, $2, place, address, '{}', 1, 1
     FROM unnest($3::text[]) WITH ORDINALITY AS e (address, place)`,
    [CHAIN, POOL, [DEPOSITS, SWAPS, seedAddress(29), STOP_LOSS, VELOCITY_GUARD]],
  );
  // After the final block all were allowed, one account was added, and one removed.
  const setting = `chain_id, address, pool, action`;
  await client.query(
    `INSERT INTO allowlist (${setting}, allow_all, block_number, block_timestamp) VALUES
       ($1, $2, $4, 'deposit', true, 11, 110), ($1, $3, $4, 'deposit', true, 3, 30)`,
    [CHAIN, DEPOSITS, OTHER, POOL],
  );
  await client.query(
    `INSERT INTO allowlist_entry (${setting}, account, allowed, block_number, block_timestamp) VALUES
       ($1, $2, $3, 'deposit', $4, true, 4, 40), ($1, $2, $3, 'deposit', $5, true, 11, 110),
       ($1, $2, $3, 'deposit', $6, false, 11, 110)`,
    [CHAIN, DEPOSITS, POOL, KEPT, ADDED, REMOVED],
  );
  await client.query(
    `INSERT INTO _reorg__allowlist (${setting}, allow_all, block_number, block_timestamp, operation_id, operation, checkpoint)
     VALUES ($1, $2, $3, 'deposit', false, 3, 30, 1, 1, $4)`,
    [CHAIN, DEPOSITS, POOL, LATER],
  );
  await client.query(
    `INSERT INTO _reorg__allowlist_entry (${setting}, account, allowed, block_number, block_timestamp, operation_id, operation, checkpoint)
     VALUES ($1, $2, $3, 'deposit', $4, true, 11, 110, 2, 0, $6), ($1, $2, $3, 'deposit', $5, true, 4, 40, 3, 1, $6)`,
    [CHAIN, DEPOSITS, POOL, ADDED, REMOVED, LATER],
  );
  // After the final block a drawdown was changed, a decay and a limit were set for the first time.
  const stopLoss =
    'chain_id, address, pool, drawdown_e6, decay_per_second_e8, timelock_secs, block_number, block_timestamp';
  const undone = 'operation_id, operation, checkpoint';
  const velocity = 'chain_id, address, pool, max_change_per_block_e18, block_number, block_timestamp';
  await client.query(`INSERT INTO stop_loss (${stopLoss}) VALUES ($1, $2, $3, 5, 7, 9, 11, 110)`, [
    CHAIN,
    STOP_LOSS,
    POOL,
  ]);
  await client.query(
    `INSERT INTO _reorg__stop_loss (${stopLoss}, ${undone}) VALUES ($1, $2, $3, 3, NULL, 9, 4, 40, 4, 1, $4)`,
    [CHAIN, STOP_LOSS, POOL, LATER],
  );
  for (const [table, columns, values] of [
    ['price_velocity', '', ''],
    ['_reorg__price_velocity', `, ${undone}`, `, 5, 0, '${LATER}'`],
  ])
    await client.query(
      `INSERT INTO ${table} (${velocity}${columns}) VALUES ($1, $2, $3, ${MAX_LIMIT}, 11, 110${values})`,
      [CHAIN, VELOCITY_GUARD, POOL],
    );
});

async function due(minSecs = 0) {
  const scope = {
    layouts: new Map([[FACTORY, 'flat']]),
    extensions: new Map(
      (
        [
          [DEPOSITS, 'depositAllowlist'],
          [SWAPS, 'swapAllowlist'],
          [OTHER, 'swapAllowlist'],
          [STOP_LOSS, 'stopLoss'],
          [VELOCITY_GUARD, 'priceVelocityGuard'],
        ] as const
      ).map(([address, role]) => [address, { role, layout: 'flat' }]),
    ),
  };
  const pace = { minSecs, maxSecs: 86_400, pools: 10, bins: 100 };
  return (await readDue(world.pool, CHAIN, scope, pace)).subjects.filter(({ kind }) => kind === 'pool');
}

test('settings of a pool are as they were at the final block, without those of extensions of which the index has no log', async () => {
  const [subject] = await due();
  expect(subject).toMatchObject({
    address: POOL,
    block: FINAL.number,
    readExtensions: [
      { address: DEPOSITS, role: 'depositAllowlist', accounts: [KEPT, ADDED, REMOVED] },
      { address: STOP_LOSS, role: 'stopLoss', layout: 'flat' },
      { address: VELOCITY_GUARD, role: 'priceVelocityGuard' },
    ],
    facts: {
      allowAll: { value: '0' },
      allowedAccounts: { value: '1,0,1' },
      stopLossSettings: { value: '3 0 9' },
      velocityLimits: { value: '0' },
    },
  });
});

test('a pool is due again once a setting of it is final', async () => {
  const { client } = database;
  await client.query(
    `INSERT INTO operator.index_audit (chain_id, address, factory, index_schema, tried_at, audited_block, differences, shown)
     VALUES ($1, $2, $3, $4, now() - interval '1 minute', 10, '{}', '{}')`,
    [CHAIN, POOL, FACTORY, ONCHAIN_SCHEMA],
  );
  expect(await due()).toEqual([]);
  await setIndexedBlock(client, { ...FINAL, number: 13, timestamp: 130 });
  const [subject] = await due();
  expect(subject).toMatchObject({
    facts: {
      allowAll: { value: '1' },
      allowedAccounts: { value: '1,1,0' },
      stopLossSettings: { value: '5 7 9' },
      velocityLimits: { value: String(MAX_LIMIT) },
    },
  });
});
