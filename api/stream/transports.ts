import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { StreamTransport } from './types.ts';

const GOING_AWAY = 1001;

/**
 * A stream's messages as server-sent events, written to the response itself: a web stream does not know what the client
 * has not taken. An empty id makes clients forget the one before.
 */
export function sseTransport(response: ServerResponse): StreamTransport {
  return {
    send: (event, id, data) => {
      if (!response.writableEnded) response.write(`event: ${event}\nid: ${id}\ndata: ${data}\n\n`);
    },
    get unsentBytes() {
      return response.writableLength;
    },
    onDrain: (listener) => response.on('drain', listener),
    end: () => response.end(),
    terminate: () => response.destroy(),
  };
}

/**
 * A stream's messages over a WebSocket: text messages, with `event` and `id` in front of the data's own fields.
 *
 * @param tcp what the WebSocket writes to
 */
export function webSocketTransport(socket: WebSocket, tcp: Socket): StreamTransport {
  return {
    send: (event, id, data) => {
      const idField = id === '' ? '' : `,"id":"${id}"`;
      socket.send(`{"event":"${event}"${idField},${data.slice(1)}`);
    },
    get unsentBytes() {
      return socket.bufferedAmount;
    },
    onDrain: (listener) => tcp.on('drain', listener),
    end: () => socket.close(GOING_AWAY),
    terminate: () => socket.terminate(),
  };
}
