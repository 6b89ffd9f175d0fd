import type { ServerResponse } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { defineResource } from '../declaration/api-route.ts';
import { clientAddress } from '../http/client-address.ts';
import { basisParam, chainIdParam, depthParam, servedChain } from '../request.ts';
import type { Connection } from '../sockets/connections.ts';
import { poolsParam } from '../sockets/pool-lists.ts';
import type { Sockets } from '../sockets/sockets.ts';
import { openStream } from './declaration.ts';
import type { Streams } from './streams.ts';
import type { StreamTransport } from './types.ts';

export interface StreamDeps {
  readonly streams: Pick<Streams, 'chains'>;
  readonly sockets: Sockets;
  readonly trustedProxies: number;
}

const HEADERS = {
  'Content-Type': 'text/event-stream',
  // A proxy must not hold events back.
  'X-Accel-Buffering': 'no',
  Connection: 'close',
};

/** `GET /public/v1/evm/{chain_id}/stream`. */
export const streamResource = defineResource([openStream], ({ streams, sockets, trustedProxies }: StreamDeps) => ({
  async openStream(c) {
    const chainId = chainIdParam(c);
    const depth = depthParam(c);
    const basis = basisParam(c);
    const stream = servedChain(streams.chains, chainId)[basis];
    const named = poolsParam(c);
    await stream.ready();
    const pools = named ?? stream.allPools();
    if (c.req.method === 'HEAD') return c.body(null, 200, HEADERS);
    const { outgoing } = c.env as HttpBindings;
    const key = c.get('key');
    const connection: Connection = {
      transport: 'sse',
      address: clientAddress(c, trustedProxies),
      keyId: key?.keyId ?? null,
      end: (reason) => subscriber.close(reason),
    };
    sockets.connections.add(connection);
    const subscriber = stream.open(sseTransport(outgoing), key !== null);
    const forget = () => {
      sockets.connections.remove(connection);
      subscriber.disconnected();
    };
    outgoing.once('close', forget);
    // If the client left earlier, no `close` follows.
    if (outgoing.destroyed) forget();
    // The stream itself terminates clients that do not read.
    outgoing.socket?.setTimeout(0);
    outgoing.writeHead(200, Object.fromEntries(c.body(null, 200, HEADERS).headers));
    outgoing.flushHeaders();
    subscriber.subscribe({ pools, depth, after: c.req.header('Last-Event-ID') || undefined });
    // The adapter would send a response of its own class a second time. A clone is of the platform's class.
    return RESPONSE_ALREADY_SENT.clone();
  },
}));

/** How often a connection without events gets a comment, by which its client knows that it is not dead. */
const COMMENT_MS = 2_000;
/** How long a client may take to read what it was sent before the end. As WebSockets have it. */
const END_WITHIN_MS = 30_000;

/**
 * Sends a stream's messages as server-sent events. It writes to Node's response, since a web stream does not know what
 * the client has not taken. An empty id makes clients forget the previous id.
 */
export function sseTransport(response: ServerResponse): StreamTransport {
  let isQuiet = false;
  const comment = () => {
    // Without an empty line: older clients take that for the end of an event, and parse its data.
    if (isQuiet && !response.writableEnded) response.write(':\n');
    isQuiet = true;
  };
  // If the client left earlier, no `close` follows.
  if (!response.destroyed) {
    const comments = setInterval(comment, COMMENT_MS).unref();
    response.once('close', () => clearInterval(comments));
  }
  return {
    send: (event, id, data) => {
      isQuiet = false;
      if (!response.writableEnded) response.write(`event: ${event}\nid: ${id}\ndata: ${data}\n\n`);
    },
    get unsentBytes() {
      return response.writableLength;
    },
    onDrain: (listener) => response.on('drain', listener),
    end: () => {
      response.end();
      const late = setTimeout(() => response.destroy(), END_WITHIN_MS).unref();
      response.once('close', () => clearTimeout(late));
    },
    terminate: () => response.destroy(),
  };
}
