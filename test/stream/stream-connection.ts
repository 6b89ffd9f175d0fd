import { request } from 'node:http';
import { WebSocket } from 'ws';
import { z } from 'zod';
import type { Basis } from '../../quoting/quote-basis.ts';

/** What a connection asks a stream for. */
export interface StreamRequest {
  readonly chainId: number;
  readonly pools: readonly string[];
  readonly depth: boolean;
  /** Default: live. Over SSE only. */
  readonly basis?: Basis | undefined;
  /** Id of the last message of an earlier connection. */
  readonly after?: string | undefined;
}

export interface StreamListener {
  /** The server took the connection; messages follow. */
  readonly opened?: () => void;
  /** @param id empty when a connection cannot resume after this message */
  readonly message: (event: string, id: string, data: string) => void;
  /** It was refused, ended by the server, or broke: once, and not after `close`. */
  readonly ended: (why: string) => void;
}

export interface StreamConnection {
  /** Takes nothing more from the socket until `resume`. */
  readonly pause: () => void;
  readonly resume: () => void;
  readonly close: () => void;
}

export type Connect = (url: string, wanted: StreamRequest, listener: StreamListener) => StreamConnection;

/** Opens a stream of server-sent events. @param url origin of the API */
export const connectSse: Connect = (url, { chainId, pools, depth, basis = 'live', after }, listener) => {
  const end = once(listener.ended);
  let [isPaused, rest] = [false, ''];
  const path = `/public/v1/evm/${chainId}/stream?pools=${pools.join(',')}&depth=${depth}&basis=${basis}`;
  const headers = after === undefined ? {} : { 'Last-Event-ID': after };
  let incoming: { pause(): unknown; resume(): unknown } | undefined;
  const sent = request(`${url}${path}`, { agent: false, headers }, (response) => {
    if (response.statusCode !== 200) {
      end(`status ${response.statusCode}`);
      return void sent.destroy();
    }
    response.on('error', () => undefined).on('close', () => end('closed'));
    incoming = response;
    if (isPaused) response.pause();
    response.setEncoding('utf8').on('data', (chunk: string) => {
      const frames = (rest + chunk).split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) takeFrame(frame, listener);
    });
    listener.opened?.();
  });
  sent.on('error', (error) => end(error.message)).end();
  return {
    pause: () => {
      isPaused = true;
      incoming?.pause();
    },
    resume: () => {
      isPaused = false;
      incoming?.resume();
    },
    close: () => {
      end.forget();
      sent.destroy();
    },
  };
};

function takeFrame(frame: string, { message }: StreamListener): void {
  const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(frame)?.[1];
  const [event, data] = [field('event'), field('data')];
  if (event !== undefined && data !== undefined) message(event, field('id') ?? '', data);
}

/** The fields that a WebSocket puts before those of the message. */
const Named = z.object({ event: z.string(), id: z.union([z.string(), z.number()]).nullish() });

/** Opens a WebSocket and subscribes. */
export const connectWebSocket: Connect = (url, { chainId, pools, depth, after }, listener) => {
  const end = once(listener.ended);
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/public/v1/evm/${chainId}/ws`);
  socket.on('error', (error) => end(error.message)).on('close', () => end('closed'));
  socket.on('open', () => {
    socket.send(JSON.stringify({ op: 'subscribe', id: 'subscription', pools, depth, after }));
    listener.opened?.();
  });
  socket.on('message', (content: Buffer) => {
    const data = content.toString();
    const { event, id } = Named.parse(JSON.parse(data));
    if (event === 'ack') return;
    if (event === 'error') {
      end(data);
      socket.terminate();
    } else listener.message(event, String(id ?? ''), data);
  });
  const whenOpen = (act: () => void) => (socket.readyState === WebSocket.CONNECTING ? socket.once('open', act) : act());
  return {
    pause: () => void whenOpen(() => socket.pause()),
    resume: () => void whenOpen(() => socket.resume()),
    close: () => {
      end.forget();
      socket.terminate();
    },
  };
};

/** Calls at the first time only, and not after a cancel. */
function once(call: (why: string) => void): ((why: string) => void) & { forget: () => void } {
  let isOver = false;
  const first = (why: string) => {
    if (isOver) return;
    isOver = true;
    call(why);
  };
  return Object.assign(first, {
    forget: () => {
      isOver = true;
    },
  });
}
