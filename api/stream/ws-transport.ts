import type { WebSocket } from 'ws';
import type { StreamTransport } from './types.ts';

const GOING_AWAY = 1001;
/** So little unsent that more may be handed over. */
const LITTLE_BYTES = 16 * 1024;

/** A stream's messages over a WebSocket: text messages, with `event` and `id` in front of the data's own fields. */
export function webSocketTransport(socket: WebSocket): StreamTransport {
  const listeners: (() => void)[] = [];
  let isBehind = false;
  const settle = () => {
    if (!isBehind || socket.bufferedAmount > LITTLE_BYTES) return;
    isBehind = false;
    for (const listener of listeners) listener();
  };
  return {
    send: (event, id, data) => {
      const idField = id === '' ? '' : `,"id":"${id}"`;
      const rest = data === '{}' ? '}' : `,${data.slice(1)}`;
      // Of a socket that is gone, the end is told by `close`.
      socket.send(`{"event":"${event}"${idField}${rest}`, settle);
      isBehind ||= socket.bufferedAmount > LITTLE_BYTES;
    },
    get unsentBytes() {
      return socket.bufferedAmount;
    },
    onDrain: (listener) => {
      listeners.push(listener);
    },
    end: () => socket.close(GOING_AWAY),
    cut: () => socket.terminate(),
  };
}
