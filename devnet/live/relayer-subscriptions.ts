import { randomBytes } from 'node:crypto';
import { bytesToHex, type Hex } from 'viem';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { stringifyJson } from '../../runtime/json.ts';
import { answerRpc, INVALID_PARAMS, type RpcCall, type RpcOutcome } from '../rpc-messages.ts';
import type { PendingUpdates } from './pending-updates.ts';
import { answerRelayer, relayerSnapshot } from './relayer-form.ts';

const Subscribe = z.tuple([z.literal('subscribeNewQuotesV1'), z.looseObject({ routers: z.array(z.string()) })]);

/** The subscriptions of one WebSocket of the relayer. */
export class RelayerSubscriptions {
  readonly #socket: WebSocket;
  readonly #pending: PendingUpdates;
  /** The routers of each; none means all. */
  readonly #routers = new Map<Hex, readonly string[]>();

  constructor(socket: WebSocket, pending: PendingUpdates) {
    this.#socket = socket;
    this.#pending = pending;
  }

  /** Answers a request: `pamm_subscribe`, `pamm_unsubscribe`, or one that HTTP answers as well. */
  receive(text: string): void {
    this.#socket.send(answerRpc(text, (call) => this.#answer(call)));
  }

  /** Sends a snapshot to each subscription. */
  notify(): void {
    for (const [subscription, routers] of this.#routers) {
      const params = { subscription, result: relayerSnapshot(this.#pending, routers) };
      this.#socket.send(stringifyJson({ jsonrpc: '2.0', method: 'pamm_subscription', params }));
    }
  }

  #answer(call: RpcCall): RpcOutcome {
    if (call.method === 'pamm_unsubscribe') return { result: this.#routers.delete(call.params[0] as Hex) };
    if (call.method !== 'pamm_subscribe') return answerRelayer(this.#pending, call);
    const params = Subscribe.safeParse(call.params).data;
    if (params === undefined) return INVALID_PARAMS;
    const subscription = bytesToHex(randomBytes(16));
    this.#routers.set(subscription, params[1].routers);
    return { result: subscription };
  }
}
