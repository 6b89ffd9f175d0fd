import { EventEmitter } from 'node:events';
import type { WebSocket } from 'ws';
import type { OpenSocket } from '../../api/sockets/open-socket.ts';
import { runSession } from '../../api/sockets/session.ts';
import type { ChainStream } from '../../api/stream/chain-stream.ts';
import type { StreamTransport } from '../../api/stream/types.ts';
import { WsSession } from '../../api/stream/ws-session.ts';
import { joinObjects } from '../../runtime/joined-json.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Machine } from './machine.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './virtual-time.ts';

const OPEN = 1;
const CLOSED = 3;

/** One direction of a connection: what is sent arrives in its order. */
class Lane {
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #to: Machine;
  #lastAt = 0;

  constructor(time: VirtualTime, random: Random, to: Machine) {
    this.#time = time;
    this.#random = random;
    this.#to = to;
  }

  send(arrive: () => void): void {
    this.#lastAt = Math.max(this.#lastAt, this.#time.now + this.#random.int(1, 25));
    this.#time.after(this.#lastAt - this.#time.now, arrive, this.#to);
  }
}

type Listener = ((event: never) => void) | null;

/** A WebSocket between a reader and a process, of which each end has the interface of its side. */
export class StreamSocket {
  readonly server: Machine;
  onopen: Listener = null;
  onmessage: Listener = null;
  onerror: Listener = null;
  onclose: Listener = null;
  /** Whether nothing arrives any more, and neither end knows. */
  isCut = false;
  readonly #server = Object.assign(new EventEmitter(), { OPEN, readyState: OPEN, bufferedAmount: 0 });
  readonly #toServer: Lane;
  readonly #toClient: Lane;
  #isClosed = false;

  /** @param stream gives the stream of the process that it reaches; undefined where no process serves one */
  constructor(
    time: VirtualTime,
    random: Random,
    server: Machine,
    stream: () => ChainStream | undefined,
    logger: Logger,
  ) {
    this.server = server;
    this.#toServer = new Lane(time, random, server);
    this.#toClient = new Lane(time, random, time.machine);
    const socket = Object.assign(this.#server, {
      send: (text: string) => this.#arrive(this.#toClient, () => this.#emit('onmessage', { data: text })),
      close: () => this.#closeServer(),
      terminate: () => this.#closeServer(),
    }) as unknown as WebSocket;
    if (server.isDead) this.#toClient.send(() => this.#closeClient());
    else this.#toServer.send(() => void this.#accept(socket, stream(), logger));
  }

  /** Of the client. */
  send(text: string): void {
    this.#arrive(this.#toServer, () => this.#server.emit('message', Buffer.from(text), false));
  }

  /** Of the client. */
  close(): void {
    this.#isClosed = true;
    this.#arrive(this.#toServer, () => this.#end());
  }

  /** The connection breaks, and both ends see it. */
  break(): void {
    this.#toServer.send(() => this.#end());
    this.#toClient.send(() => this.#closeClient());
  }

  async #accept(socket: WebSocket, stream: ChainStream | undefined, logger: Logger): Promise<void> {
    try {
      if (!stream) throw new Error('there is no stream');
      await stream.ready();
    } catch {
      return this.#closeServer();
    }
    const opened = { socket, now: () => performance.now(), largestMessage: 0 } as unknown as OpenSocket;
    const subscriber = stream.open(transportOf(socket), true);
    const useKey = async () => undefined;
    runSession(opened, new WsSession({ opened, stream, subscriber, useKey, logger }));
    this.#arrive(this.#toClient, () => this.#emit('onopen', {}));
  }

  #arrive(lane: Lane, arrive: () => void): void {
    if (this.isCut) return;
    lane.send(() => {
      if (!this.isCut) arrive();
    });
  }

  #closeServer(): void {
    if (this.#server.readyState === CLOSED) return;
    this.#end();
    this.#arrive(this.#toClient, () => this.#closeClient());
  }

  #end(): void {
    if (this.#server.readyState === CLOSED) return;
    this.#server.readyState = CLOSED;
    this.#server.emit('close');
  }

  #closeClient(): void {
    if (!this.#isClosed) this.#emit('onclose', {});
    this.#isClosed = true;
  }

  #emit(name: 'onopen' | 'onmessage' | 'onclose', event: object): void {
    if (!this.#isClosed) (this[name] as ((event: object) => void) | null)?.(event);
  }
}

/** As `api/stream/web-socket.ts` has it. */
const transportOf = (socket: WebSocket): StreamTransport => ({
  send: (event, id, data) => socket.send(joinObjects(JSON.stringify(id === '' ? { event } : { event, id }), data)),
  get unsentBytes() {
    return socket.bufferedAmount;
  },
  onDrain: () => undefined,
  end: () => socket.close(),
  terminate: () => socket.terminate(),
});
