import type { Address } from 'viem';
import type { RemovalReason } from '../../quoting/pools/pool-directory.ts';
import type { QuoteKind } from '../../quoting/types.ts';
import type { byeOf } from '../sockets/bye.ts';
import { readMessageId } from './message-id.ts';
import { type ChainView, messageOf, OUTDATED, type StreamMessage, type SubscriberState } from './subscriber-state.ts';
import type { Subscription } from './types.ts';

/** What happened to a connection or to what it shows. `drained`: its client takes more. `tick`: a second passed. */
export type SubscriberEvent =
  | { readonly kind: 'subscribe'; readonly subscription: Subscription }
  | { readonly kind: 'unsubscribe'; readonly pools: readonly Address[] }
  | { readonly kind: 'read'; readonly isNewBlock: boolean }
  | { readonly kind: 'listed'; readonly pool: Address }
  | { readonly kind: 'removed'; readonly pool: Address; readonly reason: RemovalReason }
  | { readonly kind: 'tick'; readonly isFull: boolean }
  | { readonly kind: 'close'; readonly bye: ReturnType<typeof byeOf> }
  | { readonly kind: 'drained' | 'disconnected' };

/** What is to be done, in this order. */
export interface SubscriberEffects {
  /** Pools to keep requested, each in place of what kept it requested before. */
  readonly pin: readonly { readonly pool: Address; readonly kind: QuoteKind }[];
  readonly release: readonly Address[];
  /** To be counted: how the client resumed after an earlier connection, if it tried. */
  readonly resumed: 'resumes' | 'gaps' | null;
  /** To be sent, however much is unsent. */
  readonly bye: StreamMessage | null;
  /** How the transport ends; `closed` when it has. Null: it does not. */
  readonly end: 'end' | 'terminate' | 'closed' | null;
  /** Whether messages may be due, which `nextMessages` gives. */
  readonly isFlushDue: boolean;
}

const NOTHING: SubscriberEffects = { pin: [], release: [], resumed: null, bye: null, end: null, isFlushDue: false };
const FLUSH: SubscriberEffects = { ...NOTHING, isFlushDue: true };

/** A heartbeat follows when nothing was sent for this many ticks. */
export const MAX_IDLE_TICKS = 14;
/** A connection to which nothing more can be sent for this many ticks is terminated. */
export const MAX_FULL_TICKS = 10;

/**
 * Changes the state of a connection when something happens. It reads no clock and sends nothing.
 *
 * 1. A pool is pinned exactly while the client subscribes to it, and no pool is once the connection is over.
 * 2. A connection ends once, after at most one `bye`. Nothing follows.
 * 3. A connection to which nothing can be sent for more than `MAX_FULL_TICKS` is terminated.
 * 4. While its pools are read, a client gets a message within `MAX_IDLE_TICKS`.
 *
 * @returns what is to be done
 */
export function nextSubscriber(state: SubscriberState, event: SubscriberEvent, view: ChainView): SubscriberEffects {
  if (state.isOver) return NOTHING;
  switch (event.kind) {
    case 'read':
      state.isBeatDue ||= event.isNewBlock;
      return FLUSH;
    case 'drained':
      return FLUSH;
    case 'tick':
      return tick(state, event.isFull);
    case 'subscribe':
      return subscribe(state, event.subscription, view);
    case 'unsubscribe':
      return { ...NOTHING, release: dropAll(state, event.pools) };
    case 'listed':
      if (!state.all || state.pools.has(event.pool)) return NOTHING;
      // The client gets it as an update.
      return { ...FLUSH, pin: [hold(state, event.pool, { kind: state.all, version: OUTDATED })] };
    case 'removed':
      if (!state.pools.has(event.pool)) return NOTHING;
      drop(state, event.pool);
      state.removed.set(event.pool, event.reason);
      return { ...FLUSH, release: [event.pool] };
    case 'close': {
      // The id stays the same, because `bye` voids nothing that the client has.
      const bye = messageOf(state, view, { event: 'bye', fields: { ...event.bye }, id: state.lastId });
      return { ...over(state, 'end'), bye };
    }
    case 'disconnected':
      return over(state, 'closed');
  }
}

function over(state: SubscriberState, end: SubscriberEffects['end']): SubscriberEffects {
  state.isOver = true;
  return { ...NOTHING, release: dropAll(state, [...state.pools.keys()]), end };
}

function tick(state: SubscriberState, isFull: boolean): SubscriberEffects {
  state.idleTicks += 1;
  state.fullTicks = isFull ? state.fullTicks + 1 : 0;
  if (state.fullTicks > MAX_FULL_TICKS) return over(state, 'terminate');
  if (state.idleTicks < MAX_IDLE_TICKS) return NOTHING;
  state.isBeatDue = true;
  return FLUSH;
}

/** Sends a snapshot of these pools, or resumes, and then sends changes. Pools that the client has are sent again. */
function subscribe(state: SubscriberState, { pools, depth, after }: Subscription, view: ChainView): SubscriberEffects {
  const { chainId, table } = view;
  const kind = depth ? 'depths' : 'prices';
  if (depth) state.hasDepth = true;
  if (pools === 'all') state.all = kind;
  const named = pools === 'all' ? table.ofChain(chainId).map(({ address }) => address) : pools;
  const served = named.filter((pool) => table.find(chainId, pool));
  const pin = served.map((pool) => hold(state, pool, { kind, version: null }));
  const isResumed = after !== undefined && resume(state, { after, kind }, view);
  if (!isResumed) for (const pool of named) if (!state.pools.has(pool)) state.unserved.add(pool);
  if (after !== undefined && !isResumed) state.hasGap = true;
  state.isSubscribed = true;
  // A heartbeat lets a client that missed nothing use its quotes again at once.
  state.isBeatDue ||= isResumed;
  return { ...FLUSH, pin, resumed: after === undefined ? null : isResumed ? 'resumes' : 'gaps' };
}

/**
 * Resumes after the last message of another connection, maybe to another process or on another basis. Marks what the
 * client is not known to have as it is now, to be sent again. @returns false when the client has other pools
 */
function resume(
  state: SubscriberState,
  { after, kind }: { readonly after: string; readonly kind: QuoteKind },
  view: ChainView,
): boolean {
  const id = readMessageId(after);
  if (id?.poolSet !== state.poolSet.toString(36)) return false;
  const latest = view.latest[kind];
  const sent = latest.sentWith(id.hash, id.basis);
  for (const [address, pool] of state.pools) {
    const quote = latest.get(address);
    pool.version = quote && sent?.has(quote) ? quote.version : OUTDATED;
    pool.sentAt = sent?.number ?? 0n;
  }
  return true;
}

function hold(
  state: SubscriberState,
  pool: Address,
  { kind, version }: { readonly kind: QuoteKind; readonly version: number | null },
): SubscriberEffects['pin'][number] {
  drop(state, pool);
  state.pools.set(pool, { kind, version, sentAt: 0n });
  state.poolSet ^= numberOf(pool, kind);
  return { pool, kind };
}

/** @returns whether the client subscribed to it */
function drop(state: SubscriberState, pool: Address): boolean {
  state.unserved.delete(pool);
  state.removed.delete(pool);
  const held = state.pools.get(pool);
  if (!held) return false;
  state.pools.delete(pool);
  state.poolSet ^= numberOf(pool, held.kind);
  return true;
}

/** @returns the pools that the client subscribed to */
const dropAll = (state: SubscriberState, pools: readonly Address[]): readonly Address[] =>
  pools.filter((pool) => drop(state, pool));

/** The number of a pool and kind. Different sets have the same XOR of numbers only by accident. */
const numberOf = (pool: Address, kind: QuoteKind): bigint =>
  2n * BigInt(`0x${pool.slice(-16)}`) + (kind === 'depths' ? 1n : 0n);
