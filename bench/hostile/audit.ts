import type pg from 'pg';
import { encodeFunctionResult, type Hex, numberToHex, pad, parseAbi, zeroAddress } from 'viem';
import { auditIndex } from '../../capture/audit/audit-index.ts';
import { fakeNodes } from '../../chain/fake-nodes.fixture.ts';
import { BudgetedRpc } from '../../chain/read-schedule/budgeted-rpc.ts';
import { CallBudget } from '../../chain/read-schedule/call-budget.ts';
import { ReadBudgetConfig } from '../../config/read-budget-schema.ts';
import { migrate } from '../../db/migrate.ts';
import { createOnchainTables, ONCHAIN_SCHEMA, setIndexedBlock } from '../../test/harness/onchain-tables.ts';
import { FACTORY, openSeeder, seedAddress, seedPools } from '../../test/harness/seed-pools.ts';
import { say } from '../print.ts';
import { createDatabase, openPool, type Stores } from '../stores.ts';

const CHAIN_ID = 31_339;
const BLOCK = { number: 1_000, timestamp: 1_790_001_000 };
/** Pools for each listed one. */
const LISTED_OF = 20;
const MINUTE_MS = 60_000;
/** Where a call of Multicall3 has the number of its calls: after the selector and an offset. */
const COUNT_AT = 2 + 8 + 64;
const multicallAbi = parseAbi([
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls) view returns ((bool success, bytes returnData)[])',
]);

/** What the audit of an index of many pools did. */
export interface AuditFigures {
  readonly callsPerMinute: number;
  readonly budget: number;
  readonly tried: number;
  /** Of those. */
  readonly listed: number;
  /** The first run, for which the budget has calls: what it takes of Postgres and this process. */
  readonly runMs: number;
}

/** Compares an index whose rows are made here, for some time. Its node knows none of the pools. */
export async function measureAudit({ postgres }: Stores, pools: number, seconds: number): Promise<AuditFigures> {
  const url = await createDatabase(postgres.url, 'audit');
  await migrate(url);
  const database = openPool(url, 4);
  await fill(database, url, pools);
  const { auditCallsPerMinute: budget } = ReadBudgetConfig.parse({});
  const now = () => performance.now();
  const calls: number[] = [];
  const node = fakeNodes([async (method, params) => answer(method, params, calls)], now);
  const rpc = new BudgetedRpc(node, new CallBudget(budget, ['funded'], now), 'funded');
  const audit = {
    database,
    target: { rpc, chainId: CHAIN_ID, multicall3: zeroAddress },
    scope: async () => ({ layouts: new Map([[FACTORY, 'flat']]), extensions: new Map() }),
    onChange: () => undefined,
    wallClock: Date.now,
  };
  say(`an index of ${pools} pools is compared for ${seconds} s`);
  const begun = now();
  const begin = (await database.query<{ now: Date }>('SELECT now()')).rows[0]?.now;
  await auditIndex(audit);
  const runMs = now() - begun;
  while (now() - begun < 1_000 * seconds) await auditIndex(audit);
  const { rows } = await database.query<{ tried: number; listed: number }>(
    `SELECT count(*)::int4 AS tried, count(l.pool)::int4 AS listed FROM operator.index_audit a
     LEFT JOIN operator.listed_pool l ON (l.chain_id, l.pool) = (a.chain_id, a.address) WHERE a.tried_at >= $1`,
    [begin],
  );
  await database.end();
  return { callsPerMinute: mostInAMinute(calls), budget, ...(rows[0] ?? { tried: 0, listed: 0 }), runMs };
}

/** Makes pools by SQL, of which one in {@link LISTED_OF} is listed, in a complete index. */
async function fill(database: pg.Pool, url: string, pools: number): Promise<void> {
  await createOnchainTables(database);
  const seeder = openSeeder(url);
  await seedPools(seeder.db, [{ pool: { chainId: CHAIN_ID, address: seedAddress(1) } }]);
  await seeder.end();
  const addressOf = `'0x' || lpad(to_hex(n), 40, '0')`;
  for (const [table, key] of [
    ['pool', 'address'],
    ['pool_state', 'pool'],
  ])
    await database.query(
      `INSERT INTO ${ONCHAIN_SCHEMA}.${table} SELECT made.* FROM ${ONCHAIN_SCHEMA}.${table} t, generate_series(2, $1::int4) n,
         jsonb_populate_record(t, jsonb_build_object('${key}', ${addressOf})) made`,
      [pools],
    );
  await database.query(
    `INSERT INTO operator.listed_pool SELECT chain_id, address, token0, token1, '', '', '{}' FROM ${ONCHAIN_SCHEMA}.pool
     WHERE hashtext(address) % $1 = 0`,
    [LISTED_OF],
  );
  await database.query(`INSERT INTO ${ONCHAIN_SCHEMA}._ponder_meta VALUES ('app', '{"is_ready": 1}')`);
  await setIndexedBlock(database, { chainId: CHAIN_ID, ...BLOCK, isFinal: true });
  await database.query('ANALYZE');
}

/** Answers as a node on which all calls fail but that for the chain's id. Adds the time of the request. */
function answer(method: string, params: readonly unknown[], calls: number[]): unknown {
  calls.push(performance.now());
  if (method !== 'eth_call') {
    const block = { number: numberToHex(BLOCK.number), timestamp: numberToHex(BLOCK.timestamp) };
    return { ...block, hash: pad('0x1'), parentHash: pad('0x2'), logsBloom: pad('0x0', { size: 256 }) };
  }
  const { data } = params[0] as { data: Hex };
  const count = Number(`0x${data.slice(COUNT_AT, COUNT_AT + 64)}`);
  const failed = { success: false, returnData: '0x' } as const;
  const result = Array.from({ length: count }, (_, index) =>
    index === 0 ? { success: true, returnData: numberToHex(CHAIN_ID, { size: 32 }) } : failed,
  );
  return encodeFunctionResult({ abi: multicallAbi, functionName: 'aggregate3', result });
}

/** Most of these times that are within one minute. */
const mostInAMinute = (times: readonly number[]): number =>
  Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + MINUTE_MS).length));
