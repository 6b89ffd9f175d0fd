import type { Address } from 'viem';
import type { Logger } from '../../runtime/logger.ts';
import { checkBody, type ReadJson, readJson } from '../body.ts';
import { type ApiError, badRequest, keyOrPoolsMissing, toApiError, tooManyRequests } from '../errors.ts';
import { isOutage } from '../fault.ts';
import { namedPools } from '../request.ts';
import type { ByeReason } from '../sockets/bye.ts';
import type { OpenSocket } from '../sockets/open-socket.ts';
import { MAX_NAMED_POOLS } from '../sockets/pool-lists.ts';
import type { Answer, Session } from '../sockets/session.ts';
import { windowLimit } from '../sockets/window-limit.ts';
import type { ChainStream } from './chain-stream.ts';
import type { Subscriber } from './subscriber.ts';
import { OperationName, WsOperation, type WsSubscribe } from './ws-operations.ts';

/** Pools in subscriptions. A subscription to all listed pools counts as this many. */
const NEW_POOLS_PER_MINUTE = 1_000;
const AUTH_WITHIN_MS = 5_000;
const POLICY_VIOLATION = 1008;

interface WsSessionDeps {
  readonly opened: Pick<OpenSocket, 'socket' | 'now'>;
  readonly stream: ChainStream;
  readonly subscriber: Subscriber;
  /** Counts the connection for a key that its client sends. @throws ApiError 401, 429 */
  readonly useKey: (key: string) => Promise<void>;
  readonly logger: Logger;
}

/** The operations of one WebSocket of a stream, each answered with `ack` or `error`. */
export class WsSession implements Session {
  readonly #deps: WsSessionDeps;
  readonly #openedAt: number;
  readonly #useNewPools: ReturnType<typeof windowLimit>;
  readonly #named = new Set<Address>();
  #isFirst = true;

  constructor(deps: WsSessionDeps) {
    this.#deps = deps;
    const { now } = deps.opened;
    this.#openedAt = now();
    this.#useNewPools = windowLimit(NEW_POOLS_PER_MINUTE, 60, now);
  }

  end(reason: ByeReason): void {
    const { opened, subscriber } = this.#deps;
    if (reason === 'limits' && !subscriber.isSubscribed) opened.socket.close(POLICY_VIOLATION, reason);
    else subscriber.close(reason);
  }

  closed(): void {
    this.#deps.subscriber.disconnected();
  }

  async answer(data: Buffer, isBinary: boolean): Promise<Answer> {
    // Binary data are rejected like a text that is not an operation.
    const json = readJson(isBinary ? Buffer.of() : data);
    try {
      const operation = checkBody(json, WsOperation);
      const follow = await this.#perform(operation);
      const after = () => {
        try {
          follow?.();
        } catch (error) {
          this.#deps.opened.socket.send(this.#failed(error, json));
        }
      };
      return { response: JSON.stringify({ event: 'ack', id: operation.id }), after };
    } catch (error) {
      return { response: this.#failed(error, json) };
    } finally {
      this.#isFirst = false;
    }
  }

  /** The response to an operation that failed, which is logged if it should not have. */
  #failed(error: unknown, json: ReadJson): string {
    const known = toApiError(error);
    if (known.status === 500 && !isOutage(known.fault))
      this.#deps.logger.error({ err: error }, 'an operation of a WebSocket failed');
    return this.refuse(known, idOf(json));
  }

  refuse({ status, message, headers }: ApiError, id: string | number | null = null): string {
    const waitSecs = headers['Retry-After'];
    const retry = waitSecs === undefined ? {} : { retryMs: Number(waitSecs) * 1_000 };
    return JSON.stringify({ event: 'error', id, status, error: message, ...retry });
  }

  /** Does the part of an operation that may fail. @returns the part that follows the `ack` */
  async #perform(operation: WsOperation): Promise<(() => void) | undefined> {
    if (operation.op === 'subscribe') return this.#subscribe(operation);
    if (operation.op === 'auth') await this.#authenticate(operation.key);
    if (operation.op === 'unsubscribe') {
      const pools = [...namedPools(operation.pools).keys()];
      for (const pool of pools) this.#named.delete(pool);
      this.#deps.subscriber.unsubscribe(pools);
    }
    return undefined;
  }

  async #authenticate(key: string): Promise<void> {
    try {
      const isLate = !this.#isFirst || this.#deps.opened.now() - this.#openedAt > AUTH_WITHIN_MS;
      if (isLate || this.#deps.subscriber.hasKey)
        throw badRequest('auth must be the first operation, within 5 seconds, and the only key');
      await this.#deps.useKey(key);
    } catch (error) {
      // Closes after the response: a client that sends a key does not want to continue without one.
      setImmediate(() => this.#deps.opened.socket.close(POLICY_VIOLATION, 'auth'));
      throw error;
    }
  }

  /** @throws ApiError 400, 401, 429 */
  #subscribe({ pools, depth, after }: WsSubscribe): () => void {
    const { stream, subscriber } = this.#deps;
    if (after !== undefined && subscriber.isSubscribed) throw badRequest('after belongs to the first subscription');
    const addresses = pools && [...namedPools(pools).keys()];
    if (!addresses && !subscriber.hasKey) throw keyOrPoolsMissing();
    if (new Set([...this.#named, ...(addresses ?? [])]).size > MAX_NAMED_POOLS) {
      throw badRequest(`a connection may name at most ${MAX_NAMED_POOLS} pools`);
    }
    const waitMs = this.#useNewPools(addresses?.length ?? NEW_POOLS_PER_MINUTE);
    if (waitMs > 0) throw tooManyRequests(waitMs);
    const named = addresses ?? stream.allPools();
    for (const address of addresses ?? []) this.#named.add(address);
    return () => subscriber.subscribe({ pools: named, depth, after });
  }
}

/** The id of a message, even if it is not an operation; null without a valid one. */
function idOf(json: ReadJson): string | number | null {
  const named = 'value' in json ? OperationName.safeParse(json.value) : null;
  return named?.success ? named.data.id : null;
}
