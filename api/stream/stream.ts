import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context, Handler } from 'hono';
import type { StreamConfig } from '../../config/stream-schema.ts';
import { defineResource } from '../declaration/api-route.ts';
import { badRequest, invalidApiKey } from '../errors.ts';
import { clientAddress } from '../http/client-address.ts';
import { depthParam, snapshotFailure } from '../quotes/bid-ask.ts';
import { chainIdParam, type ServedChains, servedChain } from '../request.ts';
import type { PoolDirectory } from '../snapshots/pool-directory.ts';
import { SnapshotError } from '../snapshots/types.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import { openStream } from './declaration.ts';
import { allPools, distinctAddresses, namedPools } from './named-pools.ts';
import { sseTransport } from './sse-transport.ts';
import type { StreamReader, Streams } from './types.ts';

export interface StreamDeps {
  readonly chains: ServedChains;
  readonly directory: PoolDirectory;
  readonly streams: Streams;
  readonly limits: Pick<ConnectionLimits, 'open'>;
  readonly streamConfig: StreamConfig;
  readonly trustedProxies: number;
}

/** A client whose key was revoked is not to come back soon. */
const REVOKED_RETRY_MS = 60_000;

const HEADERS = {
  'Content-Type': 'text/event-stream',
  // What stands in front must not hold events back.
  'X-Accel-Buffering': 'no',
  Connection: 'close',
};

/** `GET /public/v1/evm/{chain_id}/stream`. */
export const streamResource = defineResource([openStream], (deps: StreamDeps) => ({ openStream: answerStream(deps) }));

function answerStream({ chains, directory, streams, limits, streamConfig, trustedProxies }: StreamDeps): Handler {
  return async (c) => {
    const chainId = chainIdParam(c);
    const depth = depthParam(c);
    const chain = servedChain(chains, chainId);
    const addresses = poolsParam(c, streamConfig);
    const table = await directory.table();
    const pools = addresses
      ? namedPools(table, chain.chainId, addresses)
      : allPools(table, chain.chainId, streamConfig);
    if (c.req.method === 'HEAD') return c.body(null, 200, HEADERS);
    const { outgoing } = c.env as HttpBindings;
    const key = c.get('key');
    let reader: StreamReader | undefined;
    const connection = limits.open(key ?? { address: clientAddress(c, trustedProxies) }, () =>
      reader?.close('key_revoked', REVOKED_RETRY_MS),
    );
    const forget = () => {
      connection.free();
      reader?.gone();
    };
    outgoing.once('close', forget);
    const transport = sseTransport(outgoing);
    const opening = streams.of(chain.chainId).open(transport, { hasKey: key !== null });
    reader = await opening.catch((error) => {
      connection.free();
      throw error instanceof SnapshotError ? snapshotFailure(error) : error;
    });
    // A client that left earlier closes nothing any more.
    if (outgoing.destroyed) forget();
    // Whoever does not read is cut by the stream itself.
    outgoing.socket?.setTimeout(0);
    outgoing.writeHead(200, Object.fromEntries(c.body(null, 200, HEADERS).headers));
    outgoing.flushHeaders();
    const after = c.req.header('Last-Event-ID');
    reader.subscribe({ ...pools, depth, ...(after && { after }) });
    // The adapter would send its own kind of response a second time; a clone is of the platform's kind.
    return RESPONSE_ALREADY_SENT.clone();
  };
}

/**
 * The pools that are named; undefined when none are.
 *
 * @throws ApiError 400, and 401 when none are named without a key
 */
function poolsParam(c: Context, { poolsPerConnection }: StreamConfig) {
  const text = c.req.query('pools');
  if (text === undefined) {
    if (!c.get('key')) throw invalidApiKey();
    return undefined;
  }
  if (text === '') throw badRequest('pools must name at least one pool address');
  const addresses = distinctAddresses(text.split(','));
  if (addresses.length <= poolsPerConnection) return addresses;
  throw badRequest(`pools names ${addresses.length} addresses; at most ${poolsPerConnection} are allowed`);
}
