import { randomBytes } from 'node:crypto';
import type { Hono } from 'hono';
import { bytesToHex, type Hex } from 'viem';
import { z } from 'zod';
import type { Logger } from '../../runtime/logger.ts';
import { ApiError } from '../errors.ts';
import { chainIdParam, RPC_PREFIX, servedChain } from '../request.ts';
import type { ByeReason } from '../sockets/bye.ts';
import { assertUpgrade, type OpenSocket, openSocket, type SocketDeps } from '../sockets/open-socket.ts';
import { type Answer, runSession, type Session } from '../sockets/session.ts';
import type { FrameFeed } from './frame-feed.ts';
import { type AnswerCall, answerMessage, errorResponse } from './json-rpc.ts';
import { endFrames, type MessageForm, sendFrames } from './send-frames.ts';
import {
  addresses,
  LevelsOf,
  levelsOf,
  OverridesOf,
  readParams,
  TakerCalls,
  type TakersDeps,
  takerClient,
} from './taker-calls.ts';

/** The object that names addresses may be missing. */
const Subscribe = z.preprocess(
  (params) => (Array.isArray(params) && params.length === 1 ? [params[0], null] : params),
  z.union([
    z.tuple([z.literal('subscribeNewQuotesV1'), OverridesOf]),
    z.tuple([z.literal('subscribePriceLevelsV1'), LevelsOf]),
  ]),
);
const Unsubscribe = z.tuple([z.string()]);

/** Frames of a subscription, as notifications. */
const formOf = (subscription: Hex | null): MessageForm => {
  return {
    head: Buffer.from(
      `{"jsonrpc":"2.0","method":"pamm_subscription","params":{"subscription":"${subscription}","result":`,
    ),
    tail: Buffer.from('}}'),
    bye: (params) => JSON.stringify({ jsonrpc: '2.0', method: 'pamm_bye', params }),
  };
};

interface Subscription {
  readonly id: Hex;
  readonly kind: string;
  readonly feed: FrameFeed;
  end: () => void;
}

/** The calls and subscriptions of one WebSocket of JSON-RPC. */
export class TakerSession implements Session {
  readonly #opened: OpenSocket;
  readonly #calls: TakerCalls;
  readonly #logger: Pick<Logger, 'error'>;
  readonly #subscriptions = new Map<string, Subscription>();

  constructor(opened: OpenSocket, calls: TakerCalls, logger: Pick<Logger, 'error'>) {
    this.#opened = opened;
    this.#calls = calls;
    this.#logger = logger;
  }

  end(reason: ByeReason): void {
    endFrames(this.#opened.socket, reason, formOf(null));
  }

  closed(): void {
    for (const { end } of this.#subscriptions.values()) end();
  }

  refuse(error: ApiError): string {
    return errorResponse(null, error);
  }

  async answer(data: Buffer): Promise<Answer> {
    const answerOther = this.#calls.answers();
    const subscribed: Subscription[] = [];
    const answer: AnswerCall = async (method, params) => {
      if (method === 'pamm_unsubscribe') return this.#unsubscribe(readParams(Unsubscribe, params)[0]);
      if (method !== 'pamm_subscribe') return answerOther(method, params);
      const subscription = await this.#subscribe(readParams(Subscribe, params));
      subscribed.push(subscription);
      return subscription.id;
    };
    const response = await answerMessage(data, answer, this.#logger);
    // The first frame follows the response.
    const after = () => {
      for (const subscription of subscribed.filter(({ id }) => this.#subscriptions.has(id)))
        subscription.end = sendFrames(subscription.feed, this.#opened, formOf(subscription.id));
    };
    return { response, after };
  }

  /** @throws ApiError 429 when there is one of its kind, and what {@link PriceLevels.open} throws */
  async #subscribe([kind, named]: z.output<typeof Subscribe>): Promise<Subscription> {
    const { chain, client } = this.#calls;
    if (this.#subscriptions.values().some((each) => each.kind === kind))
      throw new ApiError(429, { error: `a connection has one ${kind} at a time` });
    const feed =
      kind === 'subscribeNewQuotesV1'
        ? await chain.overrides.open('bap710', addresses(named.routers))
        : await chain.levels.open(levelsOf('bap710', named, client.hasKey), client.hasKey);
    const subscription = { id: bytesToHex(randomBytes(16)), kind, feed, end: () => undefined };
    this.#subscriptions.set(subscription.id, subscription);
    return subscription;
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
    const client = takerClient(c, 0);
    const open = (opened: OpenSocket) =>
      runSession(opened, new TakerSession(opened, new TakerCalls(chain, client), deps.logger));
    return openSocket(c, deps, open, true);
  });
}
