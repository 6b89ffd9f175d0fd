import type pg from 'pg';
import { type Address, type Log, type PublicClient, parseAbi, parseEventLogs } from 'viem';
import { maxBigint } from '../../protocol/fixed-point.ts';
import { decodeExtsload } from '../../protocol/layouts/extsload.ts';
import { flatPoolEvents } from '../../protocol/layouts/flat/pool-abi.ts';
import { flatStorage } from '../../protocol/layouts/flat/storage.ts';
import { HEAD_DATA } from '../../protocol/layouts/storage.ts';

/** A bar: start, amounts of the swaps with the first, highest, lowest and last price, volume of both tokens, swaps. */
export type LoggedBar = readonly [number, ...(bigint | null)[]];

const abs = (value: bigint): bigint => (value < 0n ? -value : value);

/** Bars of a flat pool by its raw logs, straight from the node, with nothing of the indexer or the candles. */
export async function loggedBars(client: PublicClient, address: Address, secs: number): Promise<LoggedBar[]> {
  const logs = await client.getLogs({ address, fromBlock: 0n });
  const bars = new Map<number, [bigint, bigint][]>();
  for (const event of parseEventLogs({ abi: flatPoolEvents, eventName: 'Swap', logs })) {
    const timestamp = timeOf(event);
    const start = timestamp - (timestamp % secs);
    bars.set(start, [...(bars.get(start) ?? []), [abs(event.args.amount0Delta), abs(event.args.amount1Delta)]]);
  }
  return [...bars].map(([start, swaps]) => {
    const priced = swaps.filter(([amount0, amount1]) => amount0 > 0n && amount1 > 0n);
    // A stable sort: of equal prices the first stays first.
    const rising = [...priced].sort((a, b) => Number(sign(a[1] * b[0] - b[1] * a[0])));
    const falling = [...priced].sort((a, b) => Number(sign(b[1] * a[0] - a[1] * b[0])));
    const shown = [priced[0], falling[0], rising[0], priced.at(-1)].flatMap((pair) => pair ?? [null, null]);
    const volume = [0, 1].map((token) => swaps.reduce((sum, pair) => sum + (pair[token] ?? 0n), 0n));
    return [start, ...shown, ...volume, BigInt(swaps.length)];
  });
}

function timeOf({ blockTimestamp }: Log): number {
  if (!blockTimestamp) throw new Error('the node gives a log without the time of its block');
  return Number(blockTimestamp);
}

const sign = (value: bigint): bigint => (value > 0n ? 1n : value < 0n ? -1n : 0n);

/** The bars that readers get, in the same form, and how many of them are final. */
export async function shownBars(database: pg.Pool, chainId: number, pool: Address, secs: number) {
  const pairs = ['open', 'high', 'low', 'close'].flatMap((name) => [1, 2].map((n) => `${name}_price[${n}]`));
  const { rows } = await database.query<{ bar: (string | null)[]; final: boolean }>(
    `SELECT ARRAY[start_ts, ${pairs.join(', ')}, volume0_raw, volume1_raw, swap_count]::text[] AS bar, is_final AS final
     FROM read_model.trade_bars($1, $2, $3, 0, 4000000000 / $3::int8 * $3) ORDER BY start_ts`,
    [chainId, pool, secs],
  );
  const bars = rows.map(
    ({ bar: [start, ...rest] }): LoggedBar => [
      Number(start),
      ...rest.map((value) => (value === null ? null : BigInt(value))),
    ],
  );
  return { bars, final: rows.filter(({ final }) => final).length };
}

const balanceAbi = parseAbi(['function balanceOf(address) view returns (uint256)']);

/** The days of a flat pool by its raw logs and its tokens' own balances at the last block of each. */
export async function loggedDays(client: PublicClient, { address, token0, token1 }: LoggedPool) {
  const logs = await client.getLogs({ address, fromBlock: 0n });
  const days = new Map<
    number,
    { swaps: number; senders: Set<string>; volumes: [bigint, bigint]; fees: [bigint, bigint]; block: bigint }
  >();
  let binFees = 0n;
  const counted = ['Swap', 'LiquidityAdded', 'LiquidityRemoved', 'ProtocolFeesCollected'];
  for (const event of parseEventLogs({ abi: flatPoolEvents, logs })) {
    // Bins of a swap are logged before it.
    if (event.eventName === 'BinSwapped') binFees += event.args.lpFeeAmount;
    if (!counted.includes(event.eventName)) continue;
    const timestamp = timeOf(event);
    const start = timestamp - (timestamp % 86_400);
    const day = days.get(start) ?? { swaps: 0, senders: new Set(), volumes: [0n, 0n], fees: [0n, 0n], block: 0n };
    day.block = event.blockNumber;
    if (event.eventName === 'Swap') {
      day.swaps += 1;
      day.senders.add(event.args.sender.toLowerCase());
      day.volumes[0] += abs(event.args.amount0Delta);
      day.volumes[1] += abs(event.args.amount1Delta);
      day.fees[event.args.amount0Delta > 0n ? 0 : 1] += binFees;
      binFees = 0n;
    }
    days.set(start, day);
  }
  const rows = [...days].map(async ([start, { swaps, senders, volumes, fees, block }]) => {
    const balances = [token0, token1].map((token) => {
      const call = { address: token, abi: balanceAbi, functionName: 'balanceOf', args: [address] } as const;
      return client.readContract({ ...call, blockNumber: block });
    });
    const held = await Promise.all(balances);
    return [start, swaps, senders.size, ...volumes, ...held, ...fees].map(String);
  });
  return Promise.all(rows);
}

interface LoggedPool {
  readonly address: Address;
  readonly token0: Address;
  readonly token1: Address;
}

/** The days that readers get, in the same form. */
export async function shownDays(database: pg.Pool, chainId: number, pool: Address): Promise<string[][]> {
  const { rows } = await database.query<{ day: string[] }>(
    `SELECT ARRAY[day_ts, swap_count, sender_count, volume0_raw, volume1_raw, balance0_raw, balance1_raw,
       lp_fee0_scaled, lp_fee1_scaled]::text[] AS day
     FROM read_model.pool_day WHERE chain_id = $1 AND pool = $2 ORDER BY day_ts`,
    [chainId, pool],
  );
  return rows.map(({ day }) => day);
}

/**
 * By how many raw units the TVL of each day exceeds what bins hold by the pool's own storage at the last block of the
 * day: up to one for each log, since amounts are rounded in the pool's favour.
 */
export async function tvlBeyondBins(client: PublicClient, database: pg.Pool, chainId: number, pool: LoggedPool) {
  const { address } = pool;
  const logs = await client.getLogs({ address, fromBlock: 0n });
  const { rows } = await database.query<Record<'day' | 'tvl0' | 'tvl1' | 'scale0' | 'scale1', string>>(
    `SELECT d.day_ts AS day, tvl0_raw AS tvl0, tvl1_raw AS tvl1, token0_scale_multiplier AS scale0, token1_scale_multiplier AS scale1
     FROM read_model.pool_day d JOIN read_model.pool p ON p.chain_id = d.chain_id AND p.address = d.pool
     WHERE d.chain_id = $1 AND d.pool = $2`,
    [chainId, address],
  );
  const blocks = new Map(logs.map((log) => [log.blockNumber, timeOf(log)]));
  const days = rows.map(async ({ day, tvl0, tvl1, scale0, scale1 }) => {
    const inside = [...blocks].filter(([, timestamp]) => timestamp < Number(day) + 86_400).map(([number]) => number);
    const last = inside.reduce(maxBigint, 0n);
    const { data } = await client.call({ to: address, data: HEAD_DATA, blockNumber: last });
    const { binTotals } = flatStorage.decodeHead(decodeExtsload(data ?? '0x'));
    return [
      BigInt(tvl0) - binTotals.token0Scaled / BigInt(scale0),
      BigInt(tvl1) - binTotals.token1Scaled / BigInt(scale1),
    ];
  });
  return { beyond: (await Promise.all(days)).flat(), logs: logs.length };
}
