import { UNKNOWN_HEIGHT } from '../../quoting/heads/chain-tail.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import { ReadyJson, readyArray } from '../../runtime/joined-json.ts';
import { COMMITTED, isLive, isRead } from '../latest/latest-quotes.ts';
import { writeMessageId } from './message-id.ts';
import { messageParts, type PoolToSend } from './message-parts.ts';
import {
  blockOf,
  type ChainView,
  messageOf,
  OUTDATED,
  type StreamMessage,
  type SubscriberState,
} from './subscriber-state.ts';

/**
 * Gives the messages that are due to a connection, and notes each as sent when it is taken: who takes no more of them
 * gets the latest quotes later, and nothing in between. Messages that are given together are to be sent together.
 *
 * 1. After a `heartbeat`, or an `update` or `snapshot` with `last`, each pool that the client was ever sent has been
 *    sent as it is at the block of that message.
 * 2. If that message also has an id, the client has the quotes of all its pools.
 */
export function* nextMessages(state: SubscriberState, view: ChainView): Generator<readonly StreamMessage[]> {
  if (!state.isSubscribed || state.isOver || !blockOf(state, view)) return;
  state.fullTicks = 0;
  const voiding = voidingMessages(state, view);
  if (voiding.length > 0) {
    state.isBeatDue = true;
    yield voiding;
  }
  const isWhole = areRead(state, view);
  const due = dueQuotes(state, view);
  const isFirst = ({ sent }: PoolToSend) => !sent || sent.version === null;
  const isStale = ({ quote }: PoolToSend) => quote?.outcome instanceof SnapshotError;
  const snapshot = due.filter(isFirst);
  const changed = due.filter((each) => !isFirst(each));
  const stale = changed.filter(isStale);
  const endOf = (isEnd: boolean) => {
    if (isEnd) state.isBeatDue = false;
    return isEnd ? idOf(state, view) : '';
  };
  for (const { errors } of sentParts(state, view, stale)) {
    state.isBeatDue = true;
    yield [messageOf(state, view, { event: 'stale', fields: { pools: readyArray(errors) } })];
  }
  let isEnd = false;
  const updates = changed.filter((each) => !isStale(each));
  for (const { quotes, isLast } of sentParts(state, view, updates)) {
    isEnd = isLast && isWhole && snapshot.length === 0;
    yield [
      messageOf(state, view, {
        event: 'update',
        fields: { quotes: readyArray(quotes), last: isEnd },
        id: endOf(isEnd),
      }),
    ];
  }
  for (const { quotes, errors, isLast } of sentParts(state, view, snapshot)) {
    isEnd = isLast && isWhole;
    const fields = { quotes: readyArray(quotes), errors: readyArray(errors), last: isEnd };
    yield [messageOf(state, view, { event: 'snapshot', fields, id: endOf(isEnd) })];
  }
  if (state.isBeatDue && isWhole) yield [messageOf(state, view, { event: 'heartbeat', fields: {}, id: endOf(true) })];
}

/** Whether all pools that the client was sent are read at this block, unlike one subscribed to during the read. */
function areRead({ pools }: SubscriberState, { latest }: ChainView): boolean {
  for (const [pool, { kind, version }] of pools) if (version !== null && !latest[kind].get(pool)) return false;
  return true;
}

/** Makes the messages that void earlier ones. */
function voidingMessages(state: SubscriberState, view: ChainView): StreamMessage[] {
  const messages: StreamMessage[] = [];
  const reorgFrom = voidReplaced(state, view);
  if (state.hasGap) messages.push(messageOf(state, view, { event: 'gap', fields: {} }));
  if (reorgFrom !== null)
    messages.push(messageOf(state, view, { event: 'reorg', fields: { fromBlock: new ReadyJson(`${reorgFrom}`) } }));
  const removed = [...state.removed].map(([poolAddress, reason]) => ({ poolAddress, reason }));
  if (removed.length > 0) messages.push(messageOf(state, view, { event: 'removed', fields: { pools: removed } }));
  state.hasGap = false;
  state.removed.clear();
  return messages;
}

/**
 * Marks pools that were sent at blocks which were replaced since the last message, so that they are sent again. Marks
 * all pools when these blocks are not known.
 *
 * @returns the lowest of these blocks; null when there are none, or the client gets a gap
 */
function voidReplaced(state: SubscriberState, { latest }: ChainView): bigint | null {
  const from = state.sentBranch.replacedFrom(latest.prices.branch);
  if (from === null) return null;
  const sent = [...state.pools.values()].filter(({ version }) => version !== null);
  if (sent.length === 0) return null;
  const isGap = from === UNKNOWN_HEIGHT;
  if (isGap) state.hasGap = true;
  for (const pool of sent) if (pool.sentAt >= from) pool.version = isGap ? null : OUTDATED;
  return isGap ? null : from;
}

/** Pools whose latest quote the client was not sent. */
function dueQuotes({ unserved, pools }: SubscriberState, { latest }: ChainView): PoolToSend[] {
  const due: PoolToSend[] = [...unserved].map((pool) => ({ pool }));
  for (const [pool, sent] of pools) {
    const quote = latest[sent.kind].get(pool);
    if (quote && quote.version !== sent.version) due.push({ pool, sent, quote });
  }
  return due;
}

/** Divides pools into messages, and notes these pools as sent. */
function* sentParts(state: SubscriberState, view: ChainView, due: readonly PoolToSend[]) {
  for (const part of messageParts(due)) {
    for (const { pool, sent, quote } of part.pools) {
      state.unserved.delete(pool);
      if (!sent || !quote) continue;
      sent.version = quote.version;
      sent.sentAt = blockOf(state, view)?.number ?? 0n;
    }
    yield part;
  }
}

/** The id of a message: empty unless the client has, with it, the quotes of all its pools at this block. */
function idOf(state: SubscriberState, view: ChainView): string {
  const block = blockOf(state, view);
  if (!block) return '';
  let basis = COMMITTED;
  for (const [pool, { kind, version }] of state.pools) {
    const latest = view.latest[kind];
    const quote = latest.get(pool);
    if (!quote || quote.version !== version || !isRead(quote)) return '';
    if (isLive(quote)) basis = latest.mark;
  }
  return writeMessageId(block, state.poolSet.toString(36), basis);
}
