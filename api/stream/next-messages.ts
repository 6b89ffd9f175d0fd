import type { BlockRef } from '../../chain/read-context.ts';
import { UNKNOWN_HEIGHT } from '../../quoting/heads/chain-tail.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import { ReadyJson, readyArray } from '../../runtime/joined-json.ts';
import { COMMITTED, isLive, isRead, type LatestQuotes } from '../latest/latest-quotes.ts';
import { writeMessageId } from './message-id.ts';
import { messageParts, type PoolToSend } from './message-parts.ts';
import { NOT_SENT, OUTDATED, poolSetName, type SubscribedPools } from './subscribed-pools.ts';
import { blockOf, type ChainView, type StreamMessage, type SubscriberState } from './subscriber-state.ts';

/** Messages that are to be sent together, and what the connection is once they are. */
type Sending = readonly [SubscriberState, readonly StreamMessage[]];

/**
 * Gives the messages that are due to a connection, with the state once each is sent: who takes no more of them gets the
 * latest quotes later, and nothing in between. Nothing else may happen to the connection meanwhile.
 *
 * 1. After a `heartbeat`, or an `update` or `snapshot` with `last`, each pool that the client was ever sent has been
 *    sent as it is at the block of that message.
 * 2. If that message also has an id, the client has the quotes of all its pools.
 */
export function* nextMessages(before: SubscriberState, view: ChainView): Generator<Sending> {
  const block = blockOf(before, view);
  if (!before.isSubscribed || before.isOver || !block) return;
  let state: SubscriberState = before.fullTicks === 0 ? before : { ...before, fullTicks: 0 };
  const voided = voidReplaced(state, view);
  const voiding = voidingMessages(voided, block);
  if (voiding.length > 0) {
    const cleared = { hasGap: false, removed: NONE_REMOVED, isBeatDue: true };
    state = { ...noted(voided.state, view, ''), ...cleared };
    yield [state, voiding];
  }
  const due = dueQuotes(state, view);
  for (const { pools, errors } of messageParts(due.stale)) {
    state = { ...noted(withSent(state, pools, block), view, ''), isBeatDue: true };
    yield [state, [{ event: 'stale', block, fields: { pools: readyArray(errors) }, id: '' }]];
  }
  for (const { pools, quotes, isLast } of messageParts(due.updates)) {
    const isEnd = isLast && due.isWhole && due.first.length === 0;
    const id = isEnd ? idOf(state, due, block) : '';
    state = { ...noted(withSent(state, pools, block), view, id), isBeatDue: state.isBeatDue && !isEnd };
    yield [state, [{ event: 'update', block, fields: { quotes: readyArray(quotes), last: isEnd }, id }]];
  }
  for (const { pools, quotes, errors, isLast } of messageParts(due.first)) {
    const isEnd = isLast && due.isWhole;
    const id = isEnd ? idOf(state, due, block) : '';
    state = { ...noted(withSent(state, pools, block), view, id), isBeatDue: state.isBeatDue && !isEnd };
    const fields = { quotes: readyArray(quotes), errors: readyArray(errors), last: isEnd };
    yield [state, [{ event: 'snapshot', block, fields, id }]];
  }
  if (state.isBeatDue && due.isWhole) {
    const id = idOf(state, due, block);
    yield [{ ...noted(state, view, id), isBeatDue: false }, [{ event: 'heartbeat', block, fields: {}, id }]];
  } else if (state.fullTicks !== before.fullTicks) yield [state, []];
}

const NONE_REMOVED: SubscriberState['removed'] = new Map();

/** The state after a message. */
const noted = (state: SubscriberState, { latest }: ChainView, lastId: string): SubscriberState => ({
  ...state,
  idleTicks: 0,
  sentBranch: latest.prices.branch,
  lastId,
});

interface Voided {
  readonly state: SubscriberState;
  /** The lowest block that was replaced; null when none was, or the client gets a gap. */
  readonly reorgFrom: bigint | null;
}

/** Makes the messages that void earlier ones. */
function voidingMessages({ state, reorgFrom }: Voided, block: BlockRef): StreamMessage[] {
  const messages: StreamMessage[] = [];
  const add = (event: StreamMessage['event'], fields: StreamMessage['fields']) =>
    messages.push({ event, block, fields, id: '' });
  if (state.hasGap) add('gap', {});
  if (reorgFrom !== null) add('reorg', { fromBlock: new ReadyJson(`${reorgFrom}`) });
  const removed = [...state.removed].map(([poolAddress, reason]) => ({ poolAddress, reason }));
  if (removed.length > 0) add('removed', { pools: removed });
  return messages;
}

/**
 * Marks pools that were sent at blocks which were replaced since the last message, so that they are sent again. Marks
 * all pools when these blocks are not known.
 */
function voidReplaced(state: SubscriberState, { latest }: ChainView): Voided {
  const from = state.sentBranch.replacedFrom(latest.prices.branch);
  const { versions, sentAt } = state.subscribed;
  if (from === null || versions.every((version) => version === NOT_SENT)) return { state, reorgFrom: null };
  const isGap = from === UNKNOWN_HEIGHT;
  const isVoid = (index: number) => versions[index] !== NOT_SENT && (sentAt[index] ?? 0n) >= from;
  const marked = versions.map((version, index) => (!isVoid(index) ? version : isGap ? NOT_SENT : OUTDATED));
  const subscribed = { ...state.subscribed, versions: marked };
  return { state: { ...state, subscribed, hasGap: state.hasGap || isGap }, reorgFrom: isGap ? null : from };
}

/** The pools that are to be sent, and what the client has once they are. */
interface DueQuotes {
  /** In snapshots: pools without quotes that the client has. */
  readonly first: readonly PoolToSend[];
  readonly stale: readonly PoolToSend[];
  readonly updates: readonly PoolToSend[];
  /** Whether all pools that the client was sent are read at this block, unlike one subscribed to during the read. */
  readonly isWhole: boolean;
  /** Names the basis of the quotes of all pools; null while a pool has none that other processes read as well. */
  readonly basis: string | null;
}

/** Finds pools whose latest quote the client was not sent. */
function dueQuotes({ unserved, subscribed }: SubscriberState, { latest }: ChainView): DueQuotes {
  const first: PoolToSend[] = unserved.size === 0 ? [] : [...unserved].map((pool) => ({ pool }));
  const stale: PoolToSend[] = [];
  const updates: PoolToSend[] = [];
  let [isWhole, isComplete]: [boolean, boolean] = [true, true];
  let live: LatestQuotes | undefined;
  let index = -1;
  for (const { address: pool, kind } of subscribed.pools) {
    index += 1;
    const version = subscribed.versions[index];
    const quote = latest[kind].get(pool);
    if (!quote || !isRead(quote)) isComplete = false;
    else if (isLive(quote)) live = latest[kind];
    if (!quote && version !== NOT_SENT) isWhole = false;
    if (!quote || quote.version === version) continue;
    const list = version === NOT_SENT ? first : quote.outcome instanceof SnapshotError ? stale : updates;
    list.push({ pool, index, quote });
  }
  return { first, stale, updates, isWhole, basis: isComplete ? (live?.mark ?? COMMITTED) : null };
}

/** Notes pools as sent. */
function withSent(state: SubscriberState, sent: readonly PoolToSend[], { number }: BlockRef): SubscriberState {
  const versions = state.subscribed.versions.slice();
  const sentAt = state.subscribed.sentAt.slice();
  let unserved: Set<PoolToSend['pool']> | undefined;
  for (const { pool, index, quote } of sent) {
    if (index === undefined || !quote) {
      unserved ??= new Set(state.unserved);
      unserved.delete(pool);
      continue;
    }
    versions[index] = quote.version;
    sentAt[index] = number;
  }
  const subscribed: SubscribedPools = { ...state.subscribed, versions, sentAt };
  return { ...state, subscribed, unserved: unserved ?? state.unserved };
}

/**
 * The id of the message that is the last to send: empty unless the client has, with it, the quotes of all its pools.
 */
const idOf = ({ subscribed }: SubscriberState, { basis }: DueQuotes, block: BlockRef): string =>
  basis === null ? '' : writeMessageId(block, poolSetName(subscribed), basis);
