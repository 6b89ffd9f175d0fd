import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { joinObjects } from '../../runtime/joined-json.ts';
import type { Logger } from '../../runtime/logger.ts';
import { OutageLog } from '../../runtime/outage-log.ts';
import { pause } from '../../runtime/pause.ts';
import { connectFailFast, connectQueueing } from '../../runtime/redis-connections.ts';
import { startRepeating } from '../../runtime/repeat.ts';

/** Redis counts as unreachable when a command takes longer. */
const COMMAND_TIMEOUT_MS = 500;
/** How often a subscription is pinged: its connection ends where nothing answers (`connectQueueing`). */
const PING_MS = 5_000;
/** An outage of Redis ends after this long without a failure. */
const QUIET_MS = 5_000;

/** What a bus needs of Redis: connections that reconnect by themselves. */
export interface BusConnections {
  /** For commands, which fail at once while Redis is unreachable. */
  readonly commands: Pick<Redis, 'status' | 'publish' | 'set' | 'pexpire' | 'exists' | 'eval' | 'disconnect'>;
  /** For subscriptions, which wait while Redis is unreachable. */
  readonly subscriptions: Pick<Redis, 'on' | 'subscribe' | 'unsubscribe' | 'ping' | 'disconnect'>;
}

/** Connects a bus to Redis. */
export const connectBus = (redisUrl: string, logger: Logger): BusConnections => ({
  commands: connectFailFast(redisUrl, logger, {
    commandTimeout: COMMAND_TIMEOUT_MS,
    // A pipelined command would wait until this process has decoded what it read.
    enableAutoPipelining: false,
  }),
  subscriptions: connectQueueing(redisUrl, logger),
});

/**
 * Passes messages between the processes of a deployment, each a JSON object that begins with the `id` of its sender.
 */
export class MessageBus {
  /** For commands beside the messages: they fail at once while Redis is unreachable. */
  readonly redis;
  readonly #subscriber;
  readonly #logger: Logger;
  readonly #outage: OutageLog;
  /** Who takes the messages of a channel. */
  readonly #listeners = new Map<string, (text: string) => void>();
  readonly #stopPings: () => void;
  #id = randomUUID();
  #isClosed = false;

  /**
   * @param onMissed called when messages may have been missed; this process has a new id then, so it is new to others
   */
  constructor({ commands, subscriptions }: BusConnections, logger: Logger, onMissed: () => void) {
    this.#logger = logger;
    this.redis = commands;
    this.#subscriber = subscriptions;
    this.#subscriber.on('message', (channel, text) => this.#take(channel, text));
    this.#subscriber.on('close', () => {
      this.#id = randomUUID();
      onMissed();
    });
    this.#outage = new OutageLog(logger, {
      begin: 'reads are not shared: each process reads chains by itself',
      end: 'reads are shared again',
      quietMs: QUIET_MS,
    });
    this.#stopPings = startRepeating(this.#ping, PING_MS, false);
  }

  /**
   * Sends a JSON object with at least one field to all other processes. Never fails: others may miss it.
   *
   * @returns resolves when Redis has passed it on, or did not
   */
  async publish(channel: string, json: string): Promise<void> {
    if (this.redis.status !== 'ready') return;
    const text = joinObjects(JSON.stringify({ id: this.#id }), json);
    await this.redis.publish(channel, text).then(this.worked, this.failed);
  }

  /**
   * Passes the messages of a channel to one listener at a time, which may throw.
   *
   * @param onSubscribed called when messages begin to come
   * @returns ends that
   */
  subscribe(channel: string, listener: (text: string) => void, onSubscribed?: () => void): () => void {
    this.#listeners.set(channel, listener);
    void this.#subscriber.subscribe(channel).then(onSubscribed).catch(this.failed);
    return () => {
      this.#listeners.delete(channel);
      if (!this.#isClosed) void this.#subscriber.unsubscribe(channel).catch(this.failed);
    };
  }

  /** Resolves when all messages were taken that Redis passed on before, or do not come in time. Never rejects. */
  async caughtUp(): Promise<void> {
    const ended = new AbortController();
    // Redis answers behind these on their connection.
    await Promise.race([this.#ping(), pause(COMMAND_TIMEOUT_MS, ended.signal)]);
    ended.abort();
  }

  /** To be called when Redis did a command. */
  readonly worked = (): void => this.#outage.worked();

  /** To be called when Redis did not do a command. */
  readonly failed = (error: unknown): void => {
    if (!this.#isClosed) this.#outage.failed(error);
  };

  /** Waits while Redis is unreachable. */
  readonly #ping = (): Promise<void> => this.#subscriber.ping().then(this.worked, this.failed);

  stop(): void {
    this.#isClosed = true;
    this.#stopPings();
    this.redis.disconnect();
    this.#subscriber.disconnect();
  }

  /** Takes a message of another process: Redis sends a process its own, too. A malformed one changes nothing. */
  #take(channel: string, text: string): void {
    if (text.startsWith(`{"id":"${this.#id}"`)) return;
    try {
      this.#listeners.get(channel)?.(text);
    } catch (error) {
      this.#logger.warn({ err: error, channel }, 'a message of another process was not understood');
    }
  }
}
