import type pg from 'pg';
import { type Address, type PublicClient, parseEventLogs } from 'viem';
import { flatPoolEvents } from '../../protocol/layouts/flat/pool-abi.ts';

/** A bar: start, amounts of the swaps with the first, highest, lowest and last price, volume of both tokens, swaps. */
export type LoggedBar = readonly [number, ...(bigint | null)[]];

const abs = (value: bigint): bigint => (value < 0n ? -value : value);

/** Bars of a flat pool by its raw logs, straight from the node, with nothing of the indexer or the candles. */
export async function loggedBars(client: PublicClient, address: Address, secs: number): Promise<LoggedBar[]> {
  const logs = await client.getLogs({ address, fromBlock: 0n });
  const bars = new Map<number, [bigint, bigint][]>();
  for (const event of parseEventLogs({ abi: flatPoolEvents, eventName: 'Swap', logs })) {
    const { timestamp } = await client.getBlock({ blockNumber: event.blockNumber });
    const start = Number(timestamp) - (Number(timestamp) % secs);
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
