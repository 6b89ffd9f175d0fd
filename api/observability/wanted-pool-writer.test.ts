import pg from 'pg';
import type { Address } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readWantedPools } from '../../capture/attention/wanted-pools.ts';
import { ReadBudgetConfig } from '../../config/read-budget-schema.ts';
import { migrate } from '../../db/migrate.ts';
import { createDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { seedAddress } from '../../test/harness/seed-pools.ts';
import { WantedPoolWriter } from './wanted-pool-writer.ts';

const MOST = 3;
const readBudget = ReadBudgetConfig.parse({ wantedPools: MOST, wantedSecs: 100 });
const [ONE, OTHER] = [7, 8].map((chainId) => ({ chainId, readBudget })) as [
  { chainId: number; readBudget: ReadBudgetConfig },
  { chainId: number; readBudget: ReadBudgetConfig },
];

let testDatabase: TestDatabase;
let database: pg.Pool;
const opened: WantedPoolWriter[] = [];

/** A process of the API: its clients, and the writer that tells what they want. */
interface Process {
  /** How chain 7 is read. */
  coverage: { requested: number; unread: number };
  readonly asked: { readonly chainId: number; readonly address: Address }[];
  readonly writer: WantedPoolWriter;
}

beforeAll(async () => {
  testDatabase = await createDatabase();
  await migrate(testDatabase.url);
  database = new pg.Pool({ connectionString: testDatabase.url, max: 2 });
});

beforeEach(() => database.query('TRUNCATE operator.wanted_pool'));

afterAll(async () => {
  await Promise.all(opened.map((writer) => writer.stop()));
  await database.end();
  await testDatabase.drop();
});

/** Writes only when it is told to. */
function openProcess(): Process {
  const logger = { info: () => undefined, warn: () => undefined } as never;
  const asked: Process['asked'] = [];
  const wanted = (chainId: number) => asked.filter((pool) => pool.chainId === chainId);
  const none = { requested: 0, unread: 0 };
  const budget = { perMinute: { calls: 720, gas: 15e9 }, spent: () => ({ calls: 360, gas: 7e9 }) };
  const ahead = (chainId: number) => ({ rounds: { coverage: chainId === 7 ? process.coverage : none }, budget });
  const writer = new WantedPoolWriter({ database, chains: [ONE, OTHER], wanted, ahead, logger, pauseMs: 3_600_000 });
  opened.push(writer);
  const process: Process = { coverage: none, asked, writer };
  return process;
}

const ask = ({ asked }: Process, chainId: number, ...pools: readonly number[]) =>
  asked.push(...pools.map((n) => ({ chainId, address: seedAddress(n) })));
const wanted = async (chain: typeof ONE) => [...(await readWantedPools(database, chain))].sort();
const rows = async () => (await database.query('SELECT count(*)::int AS n FROM operator.wanted_pool')).rows[0].n;
const growOld = (secs: number) =>
  database.query('UPDATE operator.wanted_pool SET asked_at = asked_at - make_interval(secs => $1)', [secs]);

test('capture learns which pools of its chain clients of any process ask for', async () => {
  const [first, second] = [openProcess(), openProcess()];
  ask(first, 7, 1, 1);
  ask(first, 8, 2);
  ask(first, 99, 3);
  ask(second, 7, 1, 4);
  await Promise.all([first.writer.flush(), second.writer.flush()]);
  expect(await wanted(ONE)).toEqual([seedAddress(1), seedAddress(4)]);
  expect(await wanted(OTHER)).toEqual([seedAddress(2)]);
});

test('of each chain only the pools asked for last are kept, whoever wrote them', async () => {
  const [first, second] = [openProcess(), openProcess()];
  ask(first, 7, 1, 2, 3, 4, 5, 3);
  ask(first, 8, 9);
  await first.writer.flush();
  expect(await wanted(ONE)).toEqual([3, 4, 5].map(seedAddress));
  await growOld(1);
  ask(second, 7, 6, 7);
  await second.writer.flush();
  expect(await wanted(ONE)).toEqual(expect.arrayContaining([6, 7].map(seedAddress)));
  expect(await rows()).toBe(MOST + 1);
});

test('a pool that nobody asks for any more is forgotten', async () => {
  const process = openProcess();
  ask(process, 7, 1);
  await process.writer.flush();
  await growOld(101);
  expect(await wanted(ONE)).toEqual([]);
  ask(process, 7, 2);
  await process.writer.flush();
  expect([await wanted(ONE), await rows()]).toEqual([[seedAddress(2)], 1]);
});

test('what is read ahead is stored, as long as anything is requested of the process', async () => {
  const [serving, idle] = [openProcess(), openProcess()];
  serving.coverage = { requested: 32, unread: 5 };
  await serving.writer.flush();
  await idle.writer.flush();
  const { rows: stored } = await database.query(
    "SELECT *, chain_id::int FROM operator.read_attention WHERE class = 'ahead'",
  );
  expect(stored).toMatchObject([{ chain_id: 7, pools: 32, waiting: 5, calls_spent: 360, calls_per_minute: 720 }]);
});
