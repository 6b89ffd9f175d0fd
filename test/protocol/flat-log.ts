import { decodeEventLog, type Hex, toEventSelector } from 'viem';
import { flatEvents } from '../../protocol/layouts/flat/events.ts';
import { flatPoolEvents } from '../../protocol/layouts/flat/pool-abi.ts';
import type { PoolEvent } from '../../protocol/pool-events.ts';

const POOL_TOPICS: ReadonlySet<Hex> = new Set(flatPoolEvents.map((event) => toEventSelector(event)));

/** The pool event that a log carries; null when its first topic is no event of a flat pool. */
export function decodeFlatPoolLog(log: { readonly topics: readonly Hex[]; readonly data: Hex }): PoolEvent | null {
  const [topic, ...rest] = log.topics;
  if (topic === undefined || !POOL_TOPICS.has(topic)) return null;
  const { eventName, args } = decodeEventLog({ abi: flatPoolEvents, topics: [topic, ...rest], data: log.data });
  return flatEvents[eventName](args as never);
}
