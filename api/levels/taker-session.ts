import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { bytesToHex, type Hex } from 'viem';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import type { Logger } from '../../runtime/logger.ts';
import { operationLimits } from '../stream/operation-limits.ts';
import type { ByeReason } from '../stream/types.ts';
import type { FrameFeed } from './frame-feed.ts';
import { FrameSocket, type MessageForm } from './frame-socket.ts';
import { type AnswerCall, answerMessage, errorResponse, RpcError } from './json-rpc.ts';
import { addresses, answerTaker, levelsOf, Names, readParams, type TakersChain } from './taker-calls.ts';

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
  readonly #take = operationLimits();
  #done: Promise<void> = Promise.resolve();

  constructor(
    private readonly socket: WebSocket,
    private readonly tcp: Socket,
    private readonly takers: TakersChain,
    private readonly hasKey: boolean,
    private readonly logger: Pick<Logger, 'error'>,
  ) {
    // Each subscription listens.
    tcp.setMaxListeners(0);
    socket.on('message', (data: Buffer) => this.#receive(data));
    socket.once('close', () => {
      for (const end of this.#subscriptions.values()) end();
    });
  }

  /** Says why the connection ends, and ends it. */
  end(reason: ByeReason): void {
    this.#framesOf(null).end(reason);
  }

  #receive(data: Buffer): void {
    if (this.socket.readyState !== this.socket.OPEN) return;
    const { waitMs, isOver } = this.#take(data.length);
    if (isOver) this.end('limits');
    else if (waitMs > 0) this.socket.send(errorResponse(null, new RpcError('limited', 'Too many requests')));
    else this.#done = this.#done.then(() => this.#run(data));
  }

  /** Never rejects. */
  async #run(data: Buffer): Promise<void> {
    if (this.socket.readyState !== this.socket.OPEN) return;
    const opened: [Hex, () => FrameFeed<Buffer>][] = [];
    const answer: AnswerCall = async (method, params) => {
      if (method === 'pamm_unsubscribe') return this.#unsubscribe(readParams(Unsubscribe, params)[0]);
      if (method !== 'pamm_subscribe') return answerTaker(this.takers, this.hasKey, method, params);
      if (this.#subscriptions.size + opened.length >= MAX_SUBSCRIPTIONS)
        throw new RpcError('limited', `a connection has at most ${MAX_SUBSCRIPTIONS} subscriptions`);
      const subscription = bytesToHex(randomBytes(16));
      opened.push([subscription, await this.#feedOf(readParams(Subscribe, params))]);
      return subscription;
    };
    const response = await answerMessage(data, answer, this.logger);
    if (this.socket.readyState !== this.socket.OPEN) return;
    if (response !== null) this.socket.send(response);
    // The first frame follows the response.
    for (const [id, feed] of opened) this.#begin(id, feed());
  }

  #begin(id: Hex, feed: FrameFeed<Buffer>): void {
    const frames = this.#framesOf(id);
    const remove = feed.add(frames);
    this.#subscriptions.set(id, () => {
      remove();
      frames.stop();
    });
  }

  async #feedOf([kind, named]: z.output<typeof Subscribe>): Promise<() => FrameFeed<Buffer>> {
    const { levels, overrides } = this.takers;
    if (kind === 'subscribeNewQuotesV1') {
      const routers = addresses(named.routers);
      return () => overrides.feed(routers);
    }
    const query = levelsOf('bap710', addresses(named.pamms), this.hasKey);
    await levels.assertReadable(query);
    return () => levels.feed(query, this.hasKey);
  }

  #unsubscribe(id: string): boolean {
    this.#subscriptions.get(id)?.();
    return this.#subscriptions.delete(id);
  }

  #framesOf(subscription: Hex | null): FrameSocket {
    const onUnread = () => this.takers.levels.countTermination('unread');
    return new FrameSocket(this.socket, this.tcp, onUnread, formOf(subscription));
  }
}
