import { isIP } from 'node:net';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context, MiddlewareHandler } from 'hono';
import { expandIPv6 } from 'hono/utils/ipaddr';
import type { Logger } from '../../runtime/logger.ts';

/**
 * The address that a request is counted under.
 *
 * @param trustedProxies how many proxies stand before the service; each appends one entry to `X-Forwarded-For`, so the
 *   client is the entry that many from the right. Entries further left are the client's own claim and prove nothing. An
 *   entry that is no address counts as missing, which leaves the peer's.
 */
export function clientAddress(c: Context, trustedProxies: number): string {
  return addressBehind(getConnInfo(c).remote.address, c.req.header('X-Forwarded-For'), trustedProxies);
}

/** {@link clientAddress} of a peer and the `X-Forwarded-For` of its request. */
export function addressBehind(peer = 'unknown', forwardedFor = '', trustedProxies: number): string {
  if (trustedProxies === 0) return subscriber(peer);
  const hops = forwardedFor.split(',');
  return subscriber(addressOf(hops.at(-trustedProxies) ?? '') ?? peer);
}

/**
 * The address that a client's unknown keys are counted under; null when `X-Forwarded-For` tells that it is the one of a proxy
 * which is not counted: it is that of all clients, and one who tries keys would lock out the others.
 */
export function triesAddress(c: Context, trustedProxies: number): string | null {
  return triesAddressBehind(getConnInfo(c).remote.address, c.req.header('X-Forwarded-For'), trustedProxies);
}

/** {@link triesAddress} of a peer and the `X-Forwarded-For` of its request. */
export function triesAddressBehind(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trustedProxies: number,
): string | null {
  return trustedProxies === 0 && forwardedFor !== undefined ? null : addressBehind(peer, forwardedFor, trustedProxies);
}

/** Some proxies add the port, and then write an IPv6 address in brackets. */
function addressOf(hop: string): string | null {
  const text = hop.trim();
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  return isIP(bare) === 0 ? null : bare;
}

/** One IPv6 subscriber owns a whole /64: its addresses are counted as one. */
function subscriber(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').toLowerCase();
  if (isIP(plain) !== 6) return plain;
  const network = expandIPv6(plain).split(':').slice(0, 4);
  return network.map((group) => group.replace(/^0+(?=.)/, '')).join(':');
}

/** Warns once of requests that come through a proxy which is not counted: all of its clients share one address, and its limits. */
export function warnOfProxies(trustedProxies: number, logger: Logger): MiddlewareHandler {
  let isDone = trustedProxies > 0;
  return (c, next) => {
    if (!isDone && c.req.header('X-Forwarded-For') !== undefined) {
      isDone = true;
      logger.warn('TRUSTED_PROXIES is 0, but a request has X-Forwarded-For: behind a proxy all clients count as one');
    }
    return next();
  };
}
