import type { Address } from 'viem';
import type { RemovalReason } from '../../quoting/pools/pool-directory.ts';
import type { QuoteKind } from '../../quoting/types.ts';
import type { byeOf } from '../sockets/bye.ts';
import { readMessageId } from './message-id.ts';
import {
  hasPool,
  NOT_SENT,
  OUTDATED,
  poolSetName,
  type SubscribedPool,
  type SubscribedPools,
  withoutPools,
  withPools,
} from './subscribed-pools.ts';
import { blockOf, type ChainView, type StreamMessage, type SubscriberState } from './subscriber-state.ts';
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

/** What becomes of a connection, and what is to be done. */
type Step = readonly [SubscriberState, SubscriberEffects];

/**
 * What becomes of a connection when something happens. It reads no clock and sends nothing.
 *
 * 1. A pool is pinned exactly while the client subscribes to it, and no pool is once the connection is over.
 * 2. A connection ends once, after at most one `bye`. Nothing follows.
 * 3. A connection to which nothing can be sent for more than `MAX_FULL_TICKS` is terminated.
 * 4. While its pools are read, a client gets a message within `MAX_IDLE_TICKS`.
 */
export function nextSubscriber(state: SubscriberState, event: SubscriberEvent, view: ChainView): Step {
  if (state.isOver) return [state, NOTHING];
  switch (event.kind) {
    case 'read':
      return [event.isNewBlock && !state.isBeatDue ? { ...state, isBeatDue: true } : state, FLUSH];
    case 'drained':
      return [state, FLUSH];
    case 'tick':
      return tick(state, event.isFull);
    case 'subscribe':
      return subscribe(state, event.subscription, view);
    case 'unsubscribe':
      return dropAll(state, event.pools);
    case 'listed': {
      const { all, subscribed } = state;
      if (!all || hasPool(subscribed, event.pool)) return [state, NOTHING];
      // The client gets it as an update.
      const next = held(state, [event.pool], { kind: all, version: OUTDATED });
      return [next, { ...FLUSH, pin: [{ pool: event.pool, kind: all }] }];
    }
    case 'removed': {
      if (!hasPool(state.subscribed, event.pool)) return [state, NOTHING];
      const [next, effects] = dropAll(state, [event.pool]);
      const removed = new Map(next.removed).set(event.pool, event.reason);
      return [
        { ...next, removed },
        { ...effects, isFlushDue: true },
      ];
    }
    case 'close': {
      // The id stays the same, because `bye` voids nothing that the client has.
      const block = blockOf(state, view) ?? view.latest.prices.block ?? view.head;
      const bye = { event: 'bye', block, fields: { ...event.bye }, id: state.lastId } as const;
      const [next, effects] = over(state, 'end');
      return [next, { ...effects, bye }];
    }
    case 'disconnected':
      return over(state, 'closed');
  }
}

function over(state: SubscriberState, end: SubscriberEffects['end']): Step {
  const [next, effects] = dropAll(
    state,
    state.subscribed.pools.map(({ address }) => address),
  );
  return [
    { ...next, isOver: true },
    { ...effects, end },
  ];
}

function tick(before: SubscriberState, isFull: boolean): Step {
  const state = { ...before, idleTicks: before.idleTicks + 1, fullTicks: isFull ? before.fullTicks + 1 : 0 };
  if (state.fullTicks > MAX_FULL_TICKS) return over(state, 'terminate');
  return state.idleTicks < MAX_IDLE_TICKS ? [state, NOTHING] : [{ ...state, isBeatDue: true }, FLUSH];
}

/** Sends a snapshot of these pools, or resumes, and then sends changes. Pools that the client has are sent again. */
function subscribe(before: SubscriberState, { pools, depth, after }: Subscription, view: ChainView): Step {
  const { chainId, table } = view;
  const kind = depth ? 'depths' : 'prices';
  const named = pools === 'all' ? table.ofChain(chainId).map(({ address }) => address) : pools;
  const served = named.filter((pool) => table.find(chainId, pool));
  const state = held(before, served, { kind, version: NOT_SENT });
  const resumed = after === undefined ? null : resumedPools(state.subscribed, { after, kind }, view);
  const isGap = after !== undefined && !resumed;
  const subscribed = resumed ?? state.subscribed;
  const next = {
    ...state,
    subscribed,
    isSubscribed: true,
    hasDepth: state.hasDepth || depth,
    all: pools === 'all' ? kind : state.all,
    unserved: resumed ? state.unserved : withUnserved(state, named),
    hasGap: state.hasGap || isGap,
    // A heartbeat lets a client that missed nothing use its quotes again at once.
    isBeatDue: state.isBeatDue || resumed !== null,
  } as const;
  const pin = served.map((pool) => ({ pool, kind }) as const);
  return [next, { ...FLUSH, pin, resumed: resumed ? 'resumes' : isGap ? 'gaps' : null }];
}

function withUnserved({ unserved, subscribed }: SubscriberState, named: readonly Address[]): ReadonlySet<Address> {
  const known = new Set(subscribed.pools.map(({ address }) => address));
  const unknown = named.filter((pool) => !known.has(pool));
  return unknown.length === 0 ? unserved : new Set([...unserved, ...unknown]);
}

/**
 * Resumes after the last message of another connection, maybe to another process or on another basis. Marks what the
 * client is not known to have as it is now, to be sent again. @returns null when the client has other pools
 */
function resumedPools(
  subscribed: SubscribedPools,
  { after, kind }: { readonly after: string; readonly kind: QuoteKind },
  view: ChainView,
): SubscribedPools | null {
  const id = readMessageId(after);
  if (id?.poolSet !== poolSetName(subscribed)) return null;
  const latest = view.latest[kind];
  const sent = latest.sentWith(id.hash, id.basis);
  const versionOf = ({ address }: SubscribedPool) => {
    const quote = latest.get(address);
    return quote && sent?.has(quote) ? quote.version : OUTDATED;
  };
  const { pools } = subscribed;
  return { ...subscribed, versions: pools.map(versionOf), sentAt: pools.map(() => sent?.number ?? 0n) };
}

/** Subscribes to pools, each in place of what was known of it. */
const held = (
  state: SubscriberState,
  pools: readonly Address[],
  as: Parameters<typeof withPools>[2],
): SubscriberState => ({
  ...forgotten(state, pools),
  subscribed: withPools(state.subscribed, pools, as),
});

/** Ends the subscription to pools, of which `release` has those that there was one to. */
function dropAll(state: SubscriberState, pools: readonly Address[]): Step {
  const dropped = new Set(pools);
  const { subscribed } = state;
  const release = subscribed.pools.flatMap(({ address }) => (dropped.has(address) ? [address] : []));
  const next = { ...forgotten(state, pools), subscribed: withoutPools(subscribed, dropped) };
  return [next, { ...NOTHING, release }];
}

/** Without what a client is to be sent of pools that are not served. */
function forgotten(state: SubscriberState, pools: readonly Address[]): SubscriberState {
  const { unserved, removed } = state;
  if (!pools.some((pool) => unserved.has(pool) || removed.has(pool))) return state;
  const left = new Set(pools);
  return {
    ...state,
    unserved: new Set([...unserved].filter((pool) => !left.has(pool))),
    removed: new Map([...removed].filter(([pool]) => !left.has(pool))),
  };
}
