import { ConnectionError, responseError } from '../rest/errors.ts';
import type { Transport } from './types.ts';

/** The used part of a WebSocket, which is that of browsers and Node, or of the package `ws`. */
export interface WebSocketLike {
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  send(data: string): void;
  close(): void;
}

/** How often the service is pinged while no message comes. */
const PING_MS = 2_000;
const PING = JSON.stringify({ op: 'ping', id: 3 });

export type WebSocketConstructor = new (url: string) => WebSocketLike;

/**
 * Makes the transport over a WebSocket. The key is sent in a first `auth` message, since browsers cannot set headers.
 */
export const followSocket =
  (WebSocket: WebSocketConstructor): Transport =>
  ({ base, pools, depth, basis, apiKey, silenceMs }, after, onMessage, signal) =>
    new Promise((_, reject) => {
      const socket = new WebSocket(`${base.replace(/^http/, 'ws')}/ws${basis ? `?basis=${basis}` : ''}`);
      let pings: ReturnType<typeof setInterval> | undefined;
      let isQuiet = true;
      const end = (error: unknown) => {
        clearInterval(pings);
        signal.removeEventListener('abort', abort);
        socket.onmessage = null;
        socket.close();
        reject(error);
      };
      const abort = () => end(signal.reason);
      signal.addEventListener('abort', abort);
      socket.onopen = () => {
        if (apiKey !== undefined) socket.send(JSON.stringify({ op: 'auth', id: 1, key: apiKey }));
        socket.send(JSON.stringify({ op: 'subscribe', id: 2, pools, depth, after: after || undefined }));
        pings = setInterval(
          () => {
            if (isQuiet) socket.send(PING);
            isQuiet = true;
          },
          Math.min(PING_MS, (silenceMs ?? Number.POSITIVE_INFINITY) / 3),
        );
      };
      socket.onmessage = ({ data }: { readonly data: unknown }) => {
        try {
          const message = JSON.parse(String(data));
          if (message.event === 'error') throw rejected(message);
          const isAck = message.event === 'ack';
          isQuiet &&= isAck;
          onMessage(isAck ? null : message);
        } catch (error) {
          end(error);
        }
      };
      // A close follows; without a listener the package `ws` would throw.
      socket.onerror = () => undefined;
      socket.onclose = () => end(new ConnectionError('The WebSocket closed'));
    });

const rejected = ({ status, error }: { readonly status: number; readonly error: string }) =>
  responseError(new Response(null, { status }), { error });
