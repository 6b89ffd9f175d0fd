import { Hono } from 'hono';
import { beforeAll, expect, test } from 'vitest';
import { swap } from '../../indexer/ponder.schema.ts';
import { inProcessClient } from '../../test/harness/in-process-client.ts';
import { mountHandlers } from '../../test/harness/mount-handlers.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { seedAddress } from '../../test/harness/seed-pools.ts';
import { CHAIN_A, CHAINS_FILE, openListing } from '../../test/metadata/listing-fixture.ts';
import { swapRow, tradedPool } from '../../test/metadata/traded-pool.ts';
import { fixedDirectory } from '../../test/quotes/served-pool.ts';
import { bindRoutes } from '../declaration/api-route.ts';
import { ApiError, internalError, sendError } from '../errors.ts';
import { TradesPage } from './declaration.ts';
import { tradesResource } from './trades.ts';

const [POOL, QUIET, OTHER] = [seedAddress(0x1001), seedAddress(0x1002), seedAddress(0x1003)];
const TRADES = 130;

const listing = startedWorld(openListing);
let app: Hono;

/** Two trades a block of the pool, one of another between them; number 0 is the oldest. */
const tradeOf = (n: number, pool = POOL) =>
  swapRow({
    pool,
    blockNumber: 100 + Math.floor(n / 2),
    blockTimestamp: 5_000 + Math.floor(n / 4),
    logIndex: (n % 2) * 2 + (pool === POOL ? 0 : 1),
    transactionHash: `0x${n.toString(16).padStart(64, '0')}`,
    zeroForOne: n % 3 > 0,
    amount0Raw: n % 3 > 0 ? 10n ** 18n : -(10n ** 18n),
    amount1Raw: n % 3 > 0 ? -2_000_500_000n : 2_001_000_000n,
  });

beforeAll(async () => {
  const pools = [tradedPool(POOL), tradedPool(QUIET)];
  const chains = new Map(CHAINS_FILE.chains.map((chain) => [chain.chainId, chain]));
  app = new Hono();
  app.onError((error, c) => sendError(c, error instanceof ApiError ? error : internalError(error)));
  const deps = { chains, directory: fixedDirectory(pools), database: listing.pool };
  mountHandlers(app, bindRoutes(tradesResource, deps));
  const own = Array.from({ length: TRADES }, (_, n) => tradeOf(n));
  const others = Array.from({ length: TRADES }, (_, n) => tradeOf(n, OTHER));
  await listing.db.insert(swap).values([...own, ...others]);
});

async function page(query: { before?: string; limit?: number } = {}, pool: string = POOL) {
  const params = { path: { chain_id: CHAIN_A, pool_address: pool }, query };
  const { data, error } = await inProcessClient(app).GET('/public/v1/evm/{chain_id}/{pool_address}/trades', { params });
  if (!data) throw new Error(JSON.stringify(error));
  return TradesPage.parse(data);
}

test('the newest fifty come first, with amounts, and a price that compares with bid and ask', async () => {
  const { data, nextBefore } = await page();
  expect(data.length).toBe(50);
  expect(data[0]).toEqual({
    blockNumber: 164,
    timestamp: 5_032,
    logIndex: 2,
    transactionHash: tradeOf(TRADES - 1).transactionHash,
    sender: seedAddress(5),
    recipient: seedAddress(6),
    zeroForOne: false,
    amount0Raw: '-1000000000000000000',
    amount1Raw: '2001000000',
    priceX64: String(2_001n << 64n),
    quotedOut: null,
    vsQuoteBps: null,
  });
  expect(BigInt(data[1]?.priceX64 ?? 0)).toBe((20_005n << 64n) / 10n);
  expect(nextBefore).toBe(`${data[49]?.blockNumber}-${data[49]?.logIndex}`);
});

test('a trade that was compared shows what was quoted for its input, and the difference', async () => {
  const [sale, purchase, other] = [tradeOf(127), tradeOf(126), tradeOf(125)];
  const fill = (trade: typeof sale, input: bigint, quoted: bigint | null) =>
    listing.pool.query(
      `INSERT INTO history.fill (chain_id, block_number, log_index, transaction_hash, pool, block_timestamp, zero_for_one,
         in_raw, parent_hash, quoted_out_raw) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '0x', $9)`,
      [
        CHAIN_A,
        trade.blockNumber,
        trade.logIndex,
        trade.transactionHash,
        POOL,
        trade.blockTimestamp,
        trade.zeroForOne,
        String(input),
        quoted === null ? null : String(quoted),
      ],
    );
  await fill(sale, 10n ** 18n, 2_001_500_250n);
  await fill(purchase, 2_001_000_000n, null);
  // Of another swap at that place, before a reorganisation.
  await fill(other, 3n, 7n);
  const { data } = await page();
  const shown = (trade: typeof sale) => {
    const { quotedOut, vsQuoteBps } =
      data.find(({ transactionHash }) => transactionHash === trade.transactionHash) ?? {};
    return [quotedOut, vsQuoteBps];
  };
  const [quoted, bps] = shown(sale);
  expect(quoted).toBe('2001500250');
  expect(bps).toBeCloseTo(((2_000_500_000 - 2_001_500_250) / 2_001_500_250) * 10_000, 9);
  expect([shown(purchase), shown(other)]).toEqual([
    [null, null],
    [null, null],
  ]);
  await listing.pool.query('TRUNCATE history.fill');
});

test('pages follow each other without a gap, also inside a block, while trades come', async () => {
  const seen: string[] = [];
  let before: string | undefined;
  for (let n = TRADES; ; n++) {
    const { data, nextBefore } = await page({ ...(before !== undefined && { before }), limit: 7 });
    seen.push(...data.map(({ transactionHash }) => transactionHash));
    if (nextBefore === null) break;
    before = nextBefore;
    await listing.db.insert(swap).values(tradeOf(n));
  }
  const expected = Array.from({ length: TRADES }, (_, n) => tradeOf(TRADES - 1 - n).transactionHash);
  expect(seen).toEqual(expected);
});

test('a page has a hundred trades at most, and one at least', async () => {
  expect((await page({ limit: 5_000 })).data.length).toBe(100);
  expect((await page({ limit: 0 })).data.length).toBe(1);
});

test('a cursor beyond the newest block begins at the newest, and one before the oldest ends', async () => {
  expect((await page({ before: '999999999999999-0', limit: 1 })).data).toEqual((await page({ limit: 1 })).data);
  expect(await page({ before: '100-0' })).toEqual({ data: [], nextBefore: null });
  expect(await page({}, QUIET)).toEqual({ data: [], nextBefore: null });
});

test('a swap that moved nothing has no direction and no price', async () => {
  const row = { ...tradeOf(0, QUIET), zeroForOne: null, amount0Raw: 0n, amount1Raw: 0n, logIndex: 9 };
  await listing.db.insert(swap).values(row);
  expect((await page({}, QUIET)).data).toEqual([
    expect.objectContaining({ zeroForOne: null, priceX64: null, amount0Raw: '0', amount1Raw: '0' }),
  ]);
});

test.each([
  [400, 'text', `${CHAIN_A}/${POOL}/trades?limit=x`],
  [400, 'text', `${CHAIN_A}/${POOL}/trades?before=12`],
  [400, 'text', `${CHAIN_A}/${POOL}/trades?before=1-1;DROP`],
  [400, 'text', `${CHAIN_A}/${POOL}/trades?before=${'9'.repeat(20)}-1`],
  [400, 'json', `${CHAIN_A}/${POOL}/trades?limit=-1`],
  [400, 'json', `${CHAIN_A}/0x12/trades`],
  [400, 'json', `x/${POOL}/trades`],
  [404, 'json', `77/${POOL}/trades`],
  [404, 'json', `${CHAIN_A}/${OTHER}/trades`],
])('%i, %s: %s', async (status, kind, path) => {
  const response = await app.request(`/public/v1/evm/${path}`);
  expect(response.status).toBe(status);
  expect(response.headers.get('Content-Type')).toMatch(kind === 'json' ? /^application\/json/ : /^text\/plain/);
});

test('a page reads the rows of the pool alone, along the index on pool and time', async () => {
  await listing.pool.query('ANALYZE');
  const query = `EXPLAIN SELECT * FROM read_model.swap
    WHERE chain_id = ${CHAIN_A} AND pool = '${POOL}'
    ORDER BY block_timestamp DESC, block_number DESC, log_index DESC LIMIT 51`;
  const client = await listing.pool.connect();
  await client.query('SET enable_seqscan = off');
  const { rows } = await client.query(query);
  client.release(true);
  expect(JSON.stringify(rows)).toMatch(/Index Scan Backward using swap_chain_id_pool_block_timestamp_idx/);
});
