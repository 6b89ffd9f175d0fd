import type pg from 'pg';
import { toEventSelector } from 'viem';
import { request } from '../../devnet/json-rpc.ts';
import type { NodeLog } from '../../devnet/misbehaviour.ts';
import { eventLayouts } from '../../protocol/layouts/event-layouts.ts';

/** First topics of the events that a report of a repair names. */
const EVENTS = ['Swap', 'LiquidityAdded', 'LiquidityRemoved', 'ProtocolFeesCollected'];
const TOPICS = Object.values(eventLayouts).flatMap(({ abi }) =>
  abi.pool.filter(({ name }) => EVENTS.includes(name)).map((event) => toEventSelector(event)),
);
const TABLES = ['swap', 'liquidity_change', 'fee_collection'];

/** Logs of pools that the chain or the served index alone has: pool, block and log index. Sorted. */
export async function unlikeLogs(
  database: pg.Pool,
  { url, chainId }: { readonly url: string; readonly chainId: number },
): Promise<readonly string[]> {
  const filter = { fromBlock: '0x0', toBlock: 'latest', topics: [TOPICS] };
  const logs = await request<NodeLog[]>(url, 'eth_getLogs', [filter]);
  const onChain = new Set(
    logs.map(({ address, blockNumber, logIndex }) => [address, Number(blockNumber), Number(logIndex)].join(' ')),
  );
  const selects = TABLES.map(
    (table) => `SELECT concat_ws(' ', pool, block_number, log_index) AS name FROM live.${table} WHERE chain_id = $1`,
  );
  const { rows } = await database.query<{ name: string }>(selects.join(' UNION ALL '), [chainId]);
  const indexed = new Set(rows.map(({ name }) => name));
  if (indexed.size < rows.length) throw new Error('a log has two rows');
  return [...onChain.symmetricDifference(indexed)].sort();
}

/** The pools of {@link unlikeLogs}. */
export const poolsOf = (logs: readonly string[]): readonly string[] => [
  ...new Set(logs.map((name) => name.split(' ')[0] ?? '')),
];
