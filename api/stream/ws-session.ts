import type { Address } from 'viem';
import type { WebSocket } from 'ws';
import type { StreamConfig } from '../../config/stream-schema.ts';
import type { Logger } from '../../runtime/logger.ts';
import { MAX_MESSAGE_BYTES } from '../../runtime/web-sockets.ts';
import type { VerifyKey } from '../auth/authenticate.ts';
import { checkBody, type ReadJson, readJson } from '../body.ts';
import { ApiError, badRequest, internalError, invalidApiKey, tooManyRequests } from '../errors.ts';
import { snapshotFailure } from '../quotes/bid-ask.ts';
import type { PoolDirectory } from '../snapshots/pool-directory.ts';
import { SnapshotError } from '../snapshots/types.ts';
import type { CountedConnection } from './connection-limits.ts';
import { allPools, distinctAddresses, namedPools } from './named-pools.ts';
import type { ByeReason, ChainStream, StreamReader } from './types.ts';
import { WindowLimit } from './window-limit.ts';
import { MAX_UNREAD_BYTES } from './ws-alive.ts';
import { OperationName, WsOperation, type WsSubscribe } from './ws-operations.ts';
import { webSocketTransport } from './ws-transport.ts';

export interface WsSessionDeps {
  readonly chainId: number;
  readonly stream: ChainStream;
  readonly directory: PoolDirectory;
  readonly config: StreamConfig;
  readonly connection: CountedConnection;
  /** Whether the headers had a valid key. */
  readonly hasKey: boolean;
  /** Of the client, which is counted when it tries keys. */
  readonly address: string;
  readonly verifyKey: VerifyKey;
  readonly logger: Logger;
}

/** Operations of a second that are read, together: room for a `subscribe` of 1,400 pools. */
const BYTES_PER_SEC = MAX_MESSAGE_BYTES;
/** A client whose operations are refused this often in a second is sent away; a longer one counts by its length. */
const REFUSALS_PER_SEC = 100;
const BYTES_PER_REFUSAL = MAX_MESSAGE_BYTES / 10;
const AUTH_WITHIN_MS = 5_000;
const POLICY_VIOLATION = 1008;
const RETRY_MS: Readonly<Record<ByeReason, number>> = { shutdown: 1_000, limits: 10_000, key_revoked: 60_000 };

/** One WebSocket: takes its operations, in order, and answers each with `ack` or `error`. */
export class WsSession {
  readonly #socket: WebSocket;
  readonly #deps: WsSessionDeps;
  readonly #openedAt = performance.now();
  readonly #operations: WindowLimit;
  readonly #bytes = new WindowLimit(BYTES_PER_SEC, 1_000);
  readonly #refusals = new WindowLimit(REFUSALS_PER_SEC, 1_000);
  readonly #newPools: WindowLimit;
  readonly #named = new Set<Address>();
  #hasKey: boolean;
  #isFirst = true;
  /** Opened with the first subscription. */
  #reader: StreamReader | null = null;
  #isClosed = false;
  #done: Promise<void> = Promise.resolve();

  constructor(socket: WebSocket, deps: WsSessionDeps) {
    this.#socket = socket;
    this.#deps = deps;
    this.#hasKey = deps.hasKey;
    this.#operations = new WindowLimit(deps.config.operationsPerSec, 1_000);
    this.#newPools = new WindowLimit(deps.config.newPoolsPerMinute, 60_000);
  }

  /**
   * A message of the client. Anything but text is refused as text that is no operation. One beyond the limits is not looked
   * into, so that its answer cannot name it.
   */
  receive(data: string | ArrayBufferLike | Blob): void {
    // What comes while the connection closes.
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    const bytes = sizeOf(data);
    const waitMs = this.#operations.take(1) || this.#bytes.take(bytes);
    if (waitMs === 0) this.#done = this.#done.then(() => this.#run(typeof data === 'string' ? data : ''));
    else if (this.#refusals.take(1 + Math.floor(bytes / BYTES_PER_REFUSAL)) === 0)
      this.#refuse(null, tooManyRequests(waitMs));
    else this.end('limits');
  }

  /** Ends the connection from our side. */
  end(reason: ByeReason): void {
    const refuse = () => this.#socket.close(POLICY_VIOLATION, reason);
    if (this.#reader) this.#reader.close(reason, RETRY_MS[reason]);
    else if (reason === 'limits') refuse();
    else this.#done = this.#done.then(() => this.#sayBye(reason)).catch(refuse);
  }

  /** The socket is gone. */
  closed(): void {
    this.#isClosed = true;
    this.#reader?.gone();
  }

  async #run(text: string): Promise<void> {
    if (this.#isClosed) return;
    const json = readJson(Buffer.from(text), JSON.parse);
    try {
      const operation = checkBody(json, WsOperation);
      const follow = await this.#prepare(operation);
      this.#reply({ event: 'ack', id: operation.id });
      follow?.();
    } catch (error) {
      this.#refuse(idOf(json), this.#asApiError(error));
    }
    this.#isFirst = false;
  }

  /** Does what may fail. @returns what is left to do after the `ack` */
  #prepare(operation: WsOperation): Promise<(() => void) | undefined> | undefined {
    switch (operation.op) {
      case 'auth':
        return this.#authenticate(operation.key);
      case 'subscribe':
        return this.#subscribe(operation);
      case 'unsubscribe': {
        const pools = distinctAddresses(operation.pools);
        for (const pool of pools) this.#named.delete(pool);
        this.#reader?.unsubscribe(pools);
        return undefined;
      }
      case 'ping':
        return undefined;
    }
  }

  async #authenticate(key: string): Promise<undefined> {
    try {
      const isLate = !this.#isFirst || performance.now() - this.#openedAt > AUTH_WITHIN_MS;
      if (isLate || this.#hasKey)
        throw badRequest('auth must be the first operation, within 5 seconds, and the only key');
      const identity = await this.#deps.verifyKey(key, () => this.#deps.address);
      if (!identity) throw invalidApiKey();
      this.#deps.connection.moveTo(identity.keyId);
      this.#hasKey = true;
    } catch (error) {
      // After the answer: who meant to come with a key does not want to go on without.
      setImmediate(() => this.#socket.close(POLICY_VIOLATION, 'auth'));
      throw error;
    }
  }

  async #subscribe({ pools, depth, after }: WsSubscribe): Promise<() => void> {
    if (after !== undefined && this.#reader) throw badRequest('after belongs to the first subscription');
    const addresses = pools && distinctAddresses(pools);
    this.#checkAmount(addresses);
    const { directory, chainId, config } = this.#deps;
    const table = await directory.table();
    const named = addresses ? namedPools(table, chainId, addresses) : allPools(table, chainId, config);
    const reader = this.#reader ?? (await this.#open());
    for (const address of addresses ?? []) this.#named.add(address);
    return () => reader.subscribe({ ...named, depth, ...(after !== undefined && { after }) });
  }

  /** @throws ApiError 400, 401, 429 */
  #checkAmount(addresses: readonly Address[] | undefined): void {
    if (!addresses && !this.#hasKey) throw invalidApiKey();
    const { poolsPerConnection, newPoolsPerMinute } = this.#deps.config;
    if (new Set([...this.#named, ...(addresses ?? [])]).size > poolsPerConnection) {
      throw badRequest(`a connection may name at most ${poolsPerConnection} pools`);
    }
    const waitMs = this.#newPools.take(addresses?.length ?? newPoolsPerMinute);
    if (waitMs > 0) throw tooManyRequests(waitMs);
  }

  /** Opens the stream for it before the first subscription. */
  async #sayBye(reason: ByeReason): Promise<void> {
    const reader = this.#reader ?? (await this.#open());
    reader.close(reason, RETRY_MS[reason]);
  }

  async #open(): Promise<StreamReader> {
    const reader = await this.#deps.stream.open(webSocketTransport(this.#socket), { hasKey: this.#hasKey });
    if (this.#isClosed) reader.gone();
    this.#reader = reader;
    return reader;
  }

  #refuse(id: string | number | null, { status, message, headers }: ApiError): void {
    const waitSecs = headers['Retry-After'];
    const retry = waitSecs === undefined ? {} : { retryMs: Number(waitSecs) * 1_000 };
    this.#reply({ event: 'error', id, status, error: message, ...retry });
  }

  #asApiError(error: unknown): ApiError {
    if (error instanceof ApiError) return error;
    if (error instanceof SnapshotError) return snapshotFailure(error);
    this.#deps.logger.error({ err: error }, 'an operation of a WebSocket failed');
    return internalError(error);
  }

  #reply(message: object): void {
    if (this.#socket.bufferedAmount > MAX_UNREAD_BYTES) this.#socket.terminate();
    else this.#socket.send(JSON.stringify(message));
  }
}

/** The id of a message that may be no operation. */
function idOf(json: ReadJson): string | number | null {
  const named = 'value' in json ? OperationName.safeParse(json.value) : null;
  return named?.success ? named.data.id : null;
}

const sizeOf = (data: string | ArrayBufferLike | Blob): number =>
  typeof data === 'string' ? Buffer.byteLength(data) : 'size' in data ? data.size : data.byteLength;
