import type { Address } from 'viem';
import type { BlockRef } from '../../chain/read-context.ts';
import { ChainTail } from '../../quoting/heads/chain-tail.ts';
import type { PoolTable, RemovalReason } from '../../quoting/pools/pool-directory.ts';
import type { QuoteKind } from '../../quoting/types.ts';
import type { LatestQuotes } from '../latest/latest-quotes.ts';
import type { StreamEventName } from './types.ts';

/** What the subscribers of a chain see of it. */
export interface ChainView {
  readonly chainId: number;
  readonly latest: Readonly<Record<QuoteKind, LatestQuotes>>;
  /** The chain's head before anything is read. */
  readonly head: BlockRef;
  readonly table: PoolTable;
}

/** A version that no quote has: a pool with it is sent again, as an update. */
export const OUTDATED = 0;

/** A pool that a connection subscribes to. */
export interface SubscribedPool {
  readonly kind: QuoteKind;
  /** Version of the last quote that was sent. Null if none was, so that the first one is sent in a `snapshot`. */
  version: number | null;
  /** Number of the block of the message with that quote. */
  sentAt: bigint;
}

/**
 * The state of one connection. It holds no texts, only which version of each pool was sent. Each connection owns its
 * own and changes it in place: a copy per block would cost more than the messages.
 */
export interface SubscriberState {
  /** Whether the client has subscribed. Before that, only `bye` is sent. */
  isSubscribed: boolean;
  /** Whether the client ever subscribed to depth. It is then sent a block only once depths are read at that block. */
  hasDepth: boolean;
  isOver: boolean;
  /** Which quotes of all listed pools the client subscribes to; null unless it subscribes to all. */
  all: QuoteKind | null;
  readonly pools: Map<Address, SubscribedPool>;
  /** XOR of the numbers of these pools. It identifies them and their kinds, in any order. */
  poolSet: bigint;
  /** Named pools that are not served, which the client is still to be sent. */
  readonly unserved: Set<Address>;
  readonly removed: Map<Address, RemovalReason>;
  /** The block of the last message and those below it. */
  sentBranch: ChainTail;
  /** The id of the last message; empty when a connection cannot resume after it. */
  lastId: string;
  /** Whether a `gap` is due. */
  hasGap: boolean;
  /** Whether to send a heartbeat as soon as all pools that the client was sent are read. */
  isBeatDue: boolean;
  /**
   * Ticks since the last message, and since the client could last be sent more: no real time,
   * in which a process may stand still.
   */
  idleTicks: number;
  fullTicks: number;
}

/** The state of a connection without subscriptions. */
export const newSubscriber = (): SubscriberState => ({
  isSubscribed: false,
  hasDepth: false,
  isOver: false,
  all: null,
  pools: new Map(),
  poolSet: 0n,
  unserved: new Set(),
  removed: new Map(),
  sentBranch: ChainTail.EMPTY,
  lastId: '',
  hasGap: false,
  isBeatDue: false,
  idleTicks: 0,
  fullTicks: 0,
});

/** A message to send, besides what its writer adds. */
export interface StreamMessage {
  readonly event: StreamEventName;
  readonly block: BlockRef;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Empty when a connection cannot resume after it. */
  readonly id: string;
}

/** Makes a message, and notes it as the last one. */
export function messageOf(
  state: SubscriberState,
  view: ChainView,
  { id = '', ...message }: Pick<StreamMessage, 'event' | 'fields'> & { readonly id?: string },
): StreamMessage {
  const { prices } = view.latest;
  state.idleTicks = 0;
  state.sentBranch = prices.branch;
  state.lastId = id;
  return { ...message, block: blockOf(state, view) ?? prices.block ?? view.head, id };
}

/** The block of messages sent now; undefined while requested depths are not read at the block of the prices. */
export function blockOf({ pools, hasDepth }: SubscriberState, { latest, head }: ChainView): BlockRef | undefined {
  const { prices, depths } = latest;
  if (pools.size === 0) return prices.block ?? head;
  return hasDepth && depths.block?.hash !== prices.block?.hash ? undefined : prices.block;
}
