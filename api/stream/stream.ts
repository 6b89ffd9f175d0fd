import type { ServerResponse } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context } from 'hono';
import type { Address } from 'viem';
import { defineResource } from '../declaration/api-route.ts';
import { badRequest, invalidApiKey } from '../errors.ts';
import { clientAddress } from '../http/client-address.ts';
import { chainIdParam, depthParam, namedPools, servedChain } from '../request.ts';
import type { Connection } from './connections.ts';
import { MAX_NAMED_POOLS, openStream } from './declaration.ts';
import type { Streams } from './streams.ts';
import type { Subscriber } from './subscriber.ts';
import type { StreamTransport } from './types.ts';

export interface StreamDeps {
  readonly streams: Pick<Streams, 'chains' | 'connections'>;
  readonly trustedProxies: number;
}

const HEADERS = {
  'Content-Type': 'text/event-stream',
  // What stands in front must not hold events back.
  'X-Accel-Buffering': 'no',
  Connection: 'close',
};

/** `GET /public/v1/evm/{chain_id}/stream`. */
export const streamResource = defineResource([openStream], ({ streams, trustedProxies }: StreamDeps) => ({
  async openStream(c) {
    const chainId = chainIdParam(c);
    const depth = depthParam(c);
    const stream = servedChain(streams.chains, chainId);
    const named = poolsParam(c);
    await stream.ready();
    const pools = named ?? stream.allPools();
    if (c.req.method === 'HEAD') return c.body(null, 200, HEADERS);
    const { outgoing } = c.env as HttpBindings;
    const key = c.get('key');
    let subscriber: Subscriber | undefined;
    const connection: Connection = {
      transport: 'sse',
      address: clientAddress(c, trustedProxies),
      keyId: key?.keyId ?? null,
      end: (reason) => subscriber?.close(reason),
    };
    streams.connections.add(connection);
    const opened = stream.open(sseTransport(outgoing), key !== null);
    subscriber = opened;
    const forget = () => {
      streams.connections.remove(connection);
      opened.disconnected();
    };
    outgoing.once('close', forget);
    // A client that left earlier closes nothing any more.
    if (outgoing.destroyed) forget();
    // The stream itself terminates who does not read.
    outgoing.socket?.setTimeout(0);
    outgoing.writeHead(200, Object.fromEntries(c.body(null, 200, HEADERS).headers));
    outgoing.flushHeaders();
    opened.subscribe({ pools, depth, after: c.req.header('Last-Event-ID') || undefined });
    // The adapter would send its own kind of response a second time; a clone is of the platform's kind.
    return RESPONSE_ALREADY_SENT.clone();
  },
}));

/**
 * The pools that are named; undefined when none are.
 *
 * @throws ApiError 400, and 401 when none are named without a key
 */
function poolsParam(c: Context): Address[] | undefined {
  const text = c.req.query('pools');
  if (text === undefined && !c.get('key')) throw invalidApiKey();
  if (text === undefined) return undefined;
  const addresses = [...namedPools(text === '' ? [] : text.split(',')).keys()];
  if (addresses.length <= MAX_NAMED_POOLS) return addresses;
  throw badRequest(`pools names ${addresses.length} addresses; at most ${MAX_NAMED_POOLS} are allowed`);
}

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
