import type { Address } from 'viem';
import type { BlockRef } from '../../chain/read-context.ts';
import { ChainTail } from '../../quoting/heads/chain-tail.ts';
import type { PoolTable, RemovalReason } from '../../quoting/pools/pool-directory.ts';
import type { QuoteKind } from '../../quoting/types.ts';
import type { LatestQuotes } from '../latest/latest-quotes.ts';
import { NO_POOLS, type SubscribedPools } from './subscribed-pools.ts';
import type { StreamEventName } from './types.ts';

/** What the subscribers of a chain see of it. */
export interface ChainView {
  readonly chainId: number;
  readonly latest: Readonly<Record<QuoteKind, LatestQuotes>>;
  /** The chain's head before anything is read. */
  readonly head: BlockRef;
  readonly table: PoolTable;
}

/** The state of one connection. It holds no texts, only which version of each pool was sent. */
export interface SubscriberState {
  /** Whether the client has subscribed. Before that, only `bye` is sent. */
  readonly isSubscribed: boolean;
  /** Whether the client ever subscribed to depth. It is then sent a block only once depths are read at that block. */
  readonly hasDepth: boolean;
  readonly isOver: boolean;
  /** Which quotes of all listed pools the client subscribes to; null unless it subscribes to all. */
  readonly all: QuoteKind | null;
  readonly subscribed: SubscribedPools;
  /** Named pools that are not served, which the client is still to be sent. */
  readonly unserved: ReadonlySet<Address>;
  readonly removed: ReadonlyMap<Address, RemovalReason>;
  /** The block of the last message and those below it. */
  readonly sentBranch: ChainTail;
  /** The id of the last message; empty when a connection cannot resume after it. */
  readonly lastId: string;
  /** Whether a `gap` is due. */
  readonly hasGap: boolean;
  /** Whether to send a heartbeat as soon as all pools that the client was sent are read. */
  readonly isBeatDue: boolean;
  /**
   * Ticks since the last message, and since the client could last be sent more. They are not real time,
   * in which a process may stand still.
   */
  readonly idleTicks: number;
  readonly fullTicks: number;
}

/** The state of a connection without subscriptions. */
export const NEW_SUBSCRIBER: SubscriberState = {
  isSubscribed: false,
  hasDepth: false,
  isOver: false,
  all: null,
  subscribed: NO_POOLS,
  unserved: new Set(),
  removed: new Map(),
  sentBranch: ChainTail.EMPTY,
  lastId: '',
  hasGap: false,
  isBeatDue: false,
  idleTicks: 0,
  fullTicks: 0,
};

/** A message to send, besides what its writer adds. */
export interface StreamMessage {
  readonly event: StreamEventName;
  readonly block: BlockRef;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Empty when a connection cannot resume after it. */
  readonly id: string;
}

/** The block of messages sent now; undefined while requested depths are not read at the block of the prices. */
export function blockOf({ subscribed, hasDepth }: SubscriberState, { latest, head }: ChainView): BlockRef | undefined {
  const { prices, depths } = latest;
  if (subscribed.pools.length === 0) return prices.block ?? head;
  return hasDepth && depths.block?.hash !== prices.block?.hash ? undefined : prices.block;
}
