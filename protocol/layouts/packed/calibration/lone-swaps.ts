import { type Address, decodeEventLog, type Hex } from 'viem';
import type { CalibrationChain, CalibrationPool, PoolLog } from '../../../calibration.ts';
import type { PackedBinSwapped, PackedSwapped } from '../../../pool-events.ts';
import { byBlock, byTurns } from '../../../pool-logs.ts';
import { packedPoolEvents } from '../abi.ts';
import { packedEvents } from '../events.ts';

/** A swap that was all that its pool did in its block. */
export interface LoneSwap {
  readonly pool: CalibrationPool;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly swap: PackedSwapped;
  readonly bins: readonly PackedBinSwapped[];
}

/** Pools in one request for logs. */
const POOLS_AT_ONCE = 500;

/** Lone swaps of pools in a range of blocks, both ends included: the newest of each pool first, by turns. */
export async function loneSwaps(
  chain: CalibrationChain,
  pools: readonly CalibrationPool[],
  fromBlock: bigint,
  toBlock: bigint,
): Promise<readonly LoneSwap[]> {
  const byPool = new Map<Address, LoneSwap[]>();
  const known = new Map(pools.map((pool) => [pool.address, pool]));
  for (let start = 0; start < pools.length; start += POOLS_AT_ONCE) {
    const addresses = pools.slice(start, start + POOLS_AT_ONCE).map(({ address }) => address);
    for (const logs of byBlock(await chain.logs(addresses, fromBlock, toBlock))) {
      const pool = known.get(logs[0]?.address ?? '0x');
      const lone = pool && loneSwap(pool, logs);
      if (lone) byPool.set(pool.address, [lone, ...(byPool.get(pool.address) ?? [])]);
    }
  }
  return byTurns([...byPool.values()]);
}

function loneSwap(pool: CalibrationPool, logs: readonly PoolLog[]): LoneSwap | null {
  const events = logs.map(decoded);
  const bins = events.filter((event) => event?.kind === 'packedBinSwapped');
  const last = events.at(-1);
  const [log] = logs;
  if (!log || last?.kind !== 'packedSwapped' || bins.length !== events.length - 1) return null;
  return { pool, blockNumber: log.blockNumber, blockHash: log.blockHash, swap: last, bins };
}

/** A part of a swap; null for any other log. */
function decoded({ topics, data }: PoolLog): PackedSwapped | PackedBinSwapped | null {
  try {
    const event = decodeEventLog({ abi: packedPoolEvents, topics: topics as [Hex, ...Hex[]], data });
    if (event.eventName === 'Swap') return packedEvents.Swap(event.args);
    return event.eventName === 'BinSwapped' ? packedEvents.BinSwapped(event.args) : null;
  } catch {
    // Not an event of this generation.
    return null;
  }
}
