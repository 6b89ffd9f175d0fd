import { withTimeout } from './with-timeout.ts';

/** One end of the channel between two of our processes: `process` in a child, a worker of `node:cluster` in its parent. */
export interface Channel {
  send?(message: object, ...rest: [undefined, undefined, (error: Error | null) => void]): unknown;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'disconnect', listener: () => void): unknown;
}

/** Takes the argument of a call that came from a trusted process of ours. */
export type CallHandler = (argument: never) => unknown;

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

type Message =
  | { readonly kind: 'call'; readonly id: number; readonly name: string; readonly argument: unknown }
  | { readonly kind: 'answer'; readonly id: number; readonly value?: unknown; readonly failure?: string };

/** Calls of the process at the other end of a channel, and answers to its calls, each in the order of sending. */
export class ProcessCalls {
  readonly #channel: Channel;
  readonly #handlers = new Map<string, CallHandler>();
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  constructor(channel: Channel) {
    this.#channel = channel;
    channel.on('message', (message) => {
      if (isMessage(message)) void this.#take(message);
    });
    channel.on('disconnect', () => {
      for (const id of [...this.#pending.keys()]) this.#settle(id, { failure: 'the other process ended' });
    });
  }

  /** Says what answers calls of this name. The other process gets the message of an error alone. */
  answer(name: string, handler: CallHandler): void {
    this.#handlers.set(name, handler);
  }

  /** @throws Error when the other process fails, ends, or takes longer than `timeoutMs` */
  async call<T>(name: string, argument?: unknown, timeoutMs?: number): Promise<T> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answered = new Promise<unknown>((resolve, reject) => this.#pending.set(id, { resolve, reject }));
    this.#send({ kind: 'call', id, name, argument });
    const inTime = timeoutMs === undefined ? answered : withTimeout(answered, timeoutMs);
    return inTime.finally(() => this.#pending.delete(id)) as Promise<T>;
  }

  async #take(message: Message): Promise<void> {
    if (message.kind === 'answer') {
      this.#settle(message.id, message);
      return;
    }
    const { id, name, argument } = message;
    try {
      const handler = this.#handlers.get(name);
      if (!handler) throw new Error(`nothing answers "${name}" yet`);
      this.#send({ kind: 'answer', id, value: await handler(argument as never) });
    } catch (error) {
      this.#send({ kind: 'answer', id, failure: error instanceof Error ? error.message : String(error) });
    }
  }

  #settle(id: number, { value, failure }: { readonly value?: unknown; readonly failure?: string }): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (failure === undefined) pending?.resolve(value);
    else pending?.reject(new Error(failure));
  }

  #send(message: Message): void {
    this.#channel.send?.(message, undefined, undefined, (error) => {
      if (error && message.kind === 'call') this.#settle(message.id, { failure: error.message });
    });
  }
}

function isMessage(message: unknown): message is Message {
  const kind = typeof message === 'object' && message !== null && 'kind' in message ? message.kind : undefined;
  return kind === 'call' || kind === 'answer';
}
