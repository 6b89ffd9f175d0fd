import { EventEmitter } from 'node:events';
import type { BusConnections } from '../../quoting/sharing/message-bus.ts';
import type { Machine } from './machine.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './virtual-time.ts';

const COMMAND_TIMEOUT_MS = 500;

/**
 * What Redis does besides its work: `down` refuses connections, `hangs` does not answer,
 * though it may do what was asked.
 */
export type RedisState = 'well' | 'down' | 'hangs';

/** How messages fare on their way: shares of those that are lost, come twice or come late. */
export interface Weather {
  readonly lost: number;
  readonly twice: number;
  readonly lateMs: number;
}
export const CALM: Weather = { lost: 0, twice: 0, lateMs: 0 };

interface Subscriber {
  readonly machine: Machine;
  readonly channels: Set<string>;
  readonly events: EventEmitter;
}

/** The messages and keys of Redis, as far as processes that share reads use them. */
export class VirtualRedis {
  readonly #time: VirtualTime;
  readonly #random: Random;
  state: RedisState = 'well';
  weather = CALM;
  /** Whether messages of live prices are lost. */
  losesOverrides = false;
  readonly #keys = new Map<string, { readonly value: string; readonly until: number }>();
  readonly #subscribers = new Set<Subscriber>();

  constructor(time: VirtualTime, random: Random) {
    this.#time = time;
    this.#random = random;
  }

  /** Changes what Redis does. Subscribers see their connections end and come back. */
  become(state: RedisState): void {
    const wasDown = this.state === 'down';
    this.state = state;
    if (state !== 'down' || wasDown) return;
    for (const { machine, events } of this.#subscribers)
      this.#time.after(this.#random.int(1, 20), () => events.emit('close'), machine);
  }

  /** Loses all keys, as a restart without a file does. */
  forget(): void {
    this.#keys.clear();
  }

  /** Connects a process. */
  connect(machine: Machine): BusConnections {
    const events = new EventEmitter();
    const subscriber: Subscriber = { machine, channels: new Set(), events };
    this.#subscribers.add(subscriber);
    const command = <T>(run: () => T) => this.#command(run, machine);
    const redis = this;
    const commands = {
      get status() {
        return redis.state === 'down' ? 'reconnecting' : 'ready';
      },
      set: (key: string, value: string, _px: string, ms: number, ...options: string[]) =>
        command(() => {
          const before = this.#get(key);
          if (!options.includes('NX') || before === null) this.#set(key, value, ms);
          return options.includes('GET') ? before : 'OK';
        }),
      pexpire: (key: string, ms: number) =>
        command(() => {
          const value = this.#get(key);
          if (value !== null) this.#set(key, value, ms);
          return value === null ? 0 : 1;
        }),
      exists: (key: string) => command(() => (this.#get(key) === null ? 0 : 1)),
      // Takes a lease without fencing: `runtime/lease/acquire.lua`.
      eval: (_script: string, _keys: number, key: string, ms: number, _first: string, holder: string) =>
        command(() => {
          const before = this.#get(key);
          if (before !== null && before !== holder) return null;
          this.#set(key, holder, Number(ms));
          return holder;
        }),
      publish: (channel: string, text: string) => command(() => this.publish(channel, text)),
      disconnect: () => undefined,
    };
    const subscriptions = {
      on: (name: string, listener: (...args: string[]) => void) => events.on(name, listener),
      subscribe: async (channel: string) => subscriber.channels.add(channel),
      unsubscribe: async (channel: string) => subscriber.channels.delete(channel),
      ping: () => command(() => 'PONG'),
      disconnect: () => this.#subscribers.delete(subscriber),
    };
    return { commands, subscriptions } as unknown as BusConnections;
  }

  /** Passes a text on to all who listen. */
  publish(channel: string, text: string): number {
    const { lost, twice, lateMs } = this.weather;
    if (this.losesOverrides && channel.endsWith(':words')) return 0;
    for (const subscriber of this.#subscribers) {
      const { machine, channels, events } = subscriber;
      if (machine.isDead) this.#subscribers.delete(subscriber);
      if (machine.isDead || !channels.has(channel)) continue;
      const copies = this.#random.chance(lost) ? 0 : this.#random.chance(twice) ? 2 : 1;
      for (let copy = 0; copy < copies; copy += 1) {
        const ms = lateMs > 0 ? this.#random.int(1, lateMs) : 1 + copy;
        this.#time.after(ms, () => events.emit('message', channel, text), machine);
      }
    }
    return this.#subscribers.size;
  }

  #command<T>(run: () => T, machine: Machine): Promise<T> {
    const [time, random] = [this.#time, this.#random];
    return new Promise((resolve, reject) => {
      const fail = (ms: number, message: string) => time.after(ms, () => reject(new Error(message)), machine);
      if (this.state === 'down') return void fail(1, 'Connection is closed.');
      if (this.state === 'hangs') {
        // The command may be done all the same, and only the answer be lost.
        if (random.chance(0.5)) run();
        return void fail(COMMAND_TIMEOUT_MS, 'Command timed out');
      }
      const result = run();
      return void time.after(random.int(1, 3), () => resolve(result), machine);
    });
  }

  #get(key: string): string | null {
    const entry = this.#keys.get(key);
    return entry && entry.until > this.#time.now ? entry.value : null;
  }

  #set(key: string, value: string, ms: number): void {
    this.#keys.set(key, { value, until: this.#time.now + ms });
  }
}
