import { randomBytes } from 'node:crypto';
import type { Hono } from 'hono';
import { bytesToHex, type Hex } from 'viem';
import { z } from 'zod';
import type { Logger } from '../../runtime/logger.ts';
import { ApiError, tooManyRequests } from '../errors.ts';
import { chainIdParam, RPC_PREFIX, servedChain } from '../request.ts';
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
  type TakersChain,
  type TakersDeps,
} from './taker-calls.ts';

const MAX_SUBSCRIPTIONS = 20;

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

/** The calls and subscriptions of one WebSocket of JSON-RPC. */
export class TakerSession {
  readonly #subscriptions = new Map<string, () => void>();

  constructor(
    private readonly opened: OpenSocket,
    private readonly takers: TakersChain,
    private readonly hasKey: boolean,
    private readonly logger: Pick<Logger, 'error'>,
  ) {
    const { socket, tcp } = opened;
    // Each subscription listens.
    tcp.setMaxListeners(0);
    receiveOperations(socket, {
      run: (data) => this.#run(data),
      onLimited: (waitMs) => socket.send(errorResponse(null, tooManyRequests(waitMs))),
      onOver: () => this.end('limits'),
    });
    socket.once('close', () => {
      for (const end of this.#subscriptions.values()) end();
    });
  }

  /** Says why the connection ends, and ends it. */
  end(reason: ByeReason): void {
    endFrames(this.opened.socket, reason, formOf(null));
  }

  /** Never rejects. */
  async #run(data: Buffer): Promise<void> {
    const { opened, takers } = this;
    const { socket } = opened;
    const subscribed: [Hex, FrameFeed][] = [];
    const answer: AnswerCall = async (method, params) => {
      if (method === 'pamm_unsubscribe') return this.#unsubscribe(readParams(Unsubscribe, params)[0]);
      if (method !== 'pamm_subscribe') return answerTaker(takers, this.hasKey, method, params);
      if (this.#subscriptions.size + subscribed.length >= MAX_SUBSCRIPTIONS)
        throw new ApiError(429, { error: `a connection has at most ${MAX_SUBSCRIPTIONS} subscriptions` });
      const subscription = bytesToHex(randomBytes(16));
      subscribed.push([subscription, await this.#feedOf(readParams(Subscribe, params))]);
      return subscription;
    };
    const response = await answerMessage(data, answer, this.logger);
    if (socket.readyState !== socket.OPEN) return;
    if (response !== null) socket.send(response);
    // The first frame follows the response.
    for (const [id, feed] of subscribed) this.#subscriptions.set(id, sendFrames(feed, opened, formOf(id)));
  }

  async #feedOf([kind, named]: z.output<typeof Subscribe>): Promise<FrameFeed> {
    const { levels, overrides } = this.takers;
    if (kind === 'subscribeNewQuotesV1') return overrides.feed(addresses(named.routers));
    const query = levelsOf('bap710', addresses(named.pamms), this.hasKey);
    await levels.assertReadable(query);
    return levels.feed(query, this.hasKey);
  }

  #unsubscribe(id: string): boolean {
    this.#subscriptions.get(id)?.();
    return this.#subscriptions.delete(id);
  }
}

/** Mounts the WebSocket of each chain's JSON-RPC, after the endpoint at its path: opening one counts as a call. */
export function mountTakerSockets(app: Hono, deps: TakersDeps & SocketDeps): void {
  app.get(`${RPC_PREFIX}:chain_id`, async (c) => {
    const chain = servedChain(deps.takers, chainIdParam(c));
    assertUpgrade(c);
    return openSocket(c, deps, (opened) => {
      const session = new TakerSession(opened, chain, c.get('key') !== null, deps.logger);
      return (reason) => session.end(reason);
    });
  });
}
