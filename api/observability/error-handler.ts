import type { ErrorHandler } from 'hono';
import type { Logger } from '../../runtime/logger.ts';
import type { OutageLog } from '../../runtime/outage-log.ts';
import { OUTAGE_RETRY_SECS, sendError, toApiError } from '../errors.ts';

type Outage = Pick<OutageLog, 'isFailing' | 'failed'>;

/** The outages that responses 5xx may be part of: each is logged when it begins and when it ends, not by response. */
export interface Outages {
  /** Of the nodes, by chain. */
  readonly chains?: ReadonlyMap<number, { readonly nodes: Outage }> | undefined;
  /** Of Postgres and Redis. */
  readonly stores?: Outage | undefined;
}

/** The chain in the path of a request. */
const CHAIN = /^\/(?:public\/v1\/evm|rpc)\/(\d+)(?:\/|$)/;

/**
 * Makes what turns errors into responses, and logs each whole error that is not part of an outage.
 *
 * @param send writes a response
 */
export function createErrorHandler({ chains, stores }: Outages, logger: Logger, send = sendError): ErrorHandler {
  return (error, c) => {
    const known = toApiError(error);
    if (known.fault === null) return send(c, known);
    const { path } = c.req;
    const nodes = chains?.get(Number(CHAIN.exec(path)?.[1]))?.nodes;
    // While nodes do not answer, deadlines pass.
    const fault = known.fault === 'unavailable' && nodes?.isFailing ? 'nodes' : known.fault;
    c.set('fault', fault);
    if (fault !== known.fault) c.header('Retry-After', OUTAGE_RETRY_SECS);
    const outage = fault === 'nodes' ? nodes : fault === 'store' ? stores : undefined;
    const cause = known.cause ?? known;
    // What only follows from an outage does not prolong it.
    if (outage && fault === known.fault) outage.failed(cause);
    else if (!outage) logger.error({ err: cause, fault, path, requestId: c.get('requestId') }, known.message);
    return send(c, known);
  };
}
