import { randomBytes } from 'node:crypto';
import type { Hono } from 'hono';
import { bytesToHex, type Hex } from 'viem';
import { z } from 'zod';
import type { Logger } from '../../runtime/logger.ts';
import { ApiError, tooManyRequests } from '../errors.ts';
import { chainIdParam, RPC_PREFIX, servedChain } from '../request.ts';
import { MAX_NAMED_POOLS } from '../stream/declaration.ts';
import { receiveOperations } from '../stream/operation-limits.ts';
import type { ByeReason } from '../stream/types.ts';
import { assertUpgrade, type OpenSocket, openSocket, type SocketDeps } from '../stream/web-socket.ts';
import type { FrameFeed } from './frame-feed.ts';
import { type AnswerCall, answerMessage, errorResponse } from './json-rpc.ts';
import { endFrames, type MessageForm, sendFrames } from './send-frames.ts';
import {
  addresses,
  answerTaker,
  levelsOf,
  Names,
  readParams,
  type Taker,
  type TakersChain,
  type TakersDeps,
  takerOf,
} from './taker-calls.ts';

const MAX_SUBSCRIPTIONS = 5;
const TOO_MANY = `a connection has at most ${MAX_SUBSCRIPTIONS} subscriptions, and levels of ${MAX_NAMED_POOLS} pools`;

const Subscribe = z.union([
  z.tuple([z.literal('subscribeNewQuotesV1'), z.looseObject({ routers: Names })]),
  z.tuple([z.literal('subscribePriceLevelsV1'), z.looseObject({ pamms: Names })]),
]);
const Unsubscribe = z.tuple([z.string()]);

/** Frames of a subscription, as notifications. */
const formOf = (subscription: Hex | null): MessageForm => {
  const head = Buffer.from(
    `{"jsonrpc":"2.0","method":"pamm_subscription","params":{"subscription":"${subscription}","result":`,
  );
  return {
    frame: (frame) => Buffer.concat([head, frame, Buffer.from('}}')]),
    bye: (params) => JSON.stringify({ jsonrpc: '2.0', method: 'pamm_bye', params }),
  };
};

/** A subscription, and of how many pools it sends levels: all pools count as the most that can be named. */
interface Subscription {
  readonly pools: number;
  readonly feed: FrameFeed;
  end: () => void;
}

/** The calls and subscriptions of one WebSocket of JSON-RPC. */
export class TakerSession {
  readonly #subscriptions = new Map<string, Subscription>();

  constructor(
    private readonly opened: OpenSocket,
    private readonly takers: TakersChain,
    private readonly taker: Taker,
    private readonly logger: Pick<Logger, 'error'>,
  ) {
    const { socket } = opened;
    receiveOperations(socket, {
      run: (data) => this.#run(data),
      onLimited: (waitMs) => socket.send(errorResponse(null, tooManyRequests(waitMs))),
      onOver: () => this.end('limits'),
    });
    socket.once('close', () => {
      for (const { end } of this.#subscriptions.values()) end();
    });
  }

  /** Says why the connection ends, and ends it. */
  end(reason: ByeReason): void {
    endFrames(this.opened.socket, reason, formOf(null));
  }

  /** Never rejects. */
  async #run(data: Buffer): Promise<void> {
    const { opened, takers, taker } = this;
    const subscribed: [Hex, Subscription][] = [];
    const answer: AnswerCall = async (method, params) => {
      if (method === 'pamm_unsubscribe') return this.#unsubscribe(readParams(Unsubscribe, params)[0]);
      if (method !== 'pamm_subscribe') return answerTaker(takers, taker, method, params);
      const id = bytesToHex(randomBytes(16));
      const subscription = await this.#subscribe(readParams(Subscribe, params));
      this.#subscriptions.set(id, subscription);
      subscribed.push([id, subscription]);
      return id;
    };
    const response = await answerMessage(data, answer, this.logger);
    if (opened.socket.readyState !== opened.socket.OPEN) return;
    if (response !== null) opened.socket.send(response);
    // The first frame follows the response.
    for (const [id, subscription] of subscribed)
      if (this.#subscriptions.has(id)) subscription.end = sendFrames(subscription.feed, opened, formOf(id));
  }

  /** @throws ApiError 429 beyond the bounds of a connection, and what {@link PriceLevels.open} throws */
  async #subscribe([kind, named]: z.output<typeof Subscribe>): Promise<Subscription> {
    const { levels, overrides } = this.takers;
    if (kind === 'subscribeNewQuotesV1') return this.#within(0, async () => overrides.feed(addresses(named.routers)));
    const { hasKey } = this.taker;
    const query = levelsOf('bap710', addresses(named.pamms), hasKey);
    return this.#within(query.pools?.length ?? MAX_NAMED_POOLS, () => levels.open(query, hasKey));
  }

  async #within(pools: number, open: () => Promise<FrameFeed>): Promise<Subscription> {
    const held = [...this.#subscriptions.values()];
    const sum = held.reduce((total, other) => total + other.pools, pools);
    if (held.length >= MAX_SUBSCRIPTIONS || sum > MAX_NAMED_POOLS) throw new ApiError(429, { error: TOO_MANY });
    return { pools, feed: await open(), end: () => undefined };
  }

  #unsubscribe(id: string): boolean {
    this.#subscriptions.get(id)?.end();
    return this.#subscriptions.delete(id);
  }
}

/** Mounts the WebSocket of each chain's JSON-RPC, after the endpoint at its path: opening one counts as a call. */
export function mountTakerSockets(app: Hono, deps: TakersDeps & SocketDeps): void {
  app.get(`${RPC_PREFIX}:chain_id`, async (c) => {
    const chain = servedChain(deps.takers, chainIdParam(c));
    assertUpgrade(c);
    return openSocket(c, deps, (opened) => {
      const session = new TakerSession(opened, chain, takerOf(c.get('key') !== null), deps.logger);
      return (reason) => session.end(reason);
    });
  });
}
