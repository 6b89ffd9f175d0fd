import type { ServerResponse } from 'node:http';
import type { StreamTransport } from './types.ts';

/**
 * A stream's messages as server-sent events, written to the response itself: a web stream would not tell what the client has
 * not taken.
 */
export function sseTransport(response: ServerResponse): StreamTransport {
  return {
    send: (event, id, data) => {
      const idLine = id === '' ? '' : `id: ${id}\n`;
      if (!response.writableEnded) response.write(`event: ${event}\n${idLine}data: ${data}\n\n`);
    },
    get unsentBytes() {
      return response.writableLength;
    },
    onDrain: (listener) => response.on('drain', listener),
    end: () => response.end(),
    cut: () => response.destroy(),
  };
}
