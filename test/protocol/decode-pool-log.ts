import { decodeEventLog, type Hex, toEventSelector } from 'viem';
import { flatPoolEvents } from '../../protocol/abi/pool.ts';
import { flatEvents } from '../../protocol/layouts/flat/events.ts';

export type PoolEvent = ReturnType<(typeof flatEvents)[keyof typeof flatEvents]>;

const POOL_TOPICS: ReadonlySet<Hex> = new Set(flatPoolEvents.map((event) => toEventSelector(event)));

/** The pool event of a raw log, as Ponder and `flatEvents` together read it; null when its first topic is no event of a flat pool. */
export function decodeFlatPoolLog(log: { readonly topics: readonly Hex[]; readonly data: Hex }): PoolEvent | null {
  const [topic, ...rest] = log.topics;
  if (topic === undefined || !POOL_TOPICS.has(topic)) return null;
  const { eventName, args } = decodeEventLog({ abi: flatPoolEvents, topics: [topic, ...rest], data: log.data });
  return flatEvents[eventName](args as never);
}
