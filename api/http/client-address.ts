import { isIP } from 'node:net';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context, MiddlewareHandler } from 'hono';
import { expandIPv6 } from 'hono/utils/ipaddr';
import type { Logger } from '../../runtime/logger.ts';

/**
 * Gives the address that a request is counted under.
 *
 * @param trustedProxies how many proxies stand before the service. Each appends one entry to `X-Forwarded-For`, so the
 *   client's address is the entry at this place from the right. Entries further left are the client's own claim and
 *   prove nothing. If the entry is missing or is not an address, the peer's address counts.
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
 * Gives the address that a client's unknown keys are counted under. Null when `X-Forwarded-For` shows a proxy that is
 * not trusted: all clients share its address, and one that tries keys would lock out the others.
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

/** Reads an entry. Some proxies add the port, and then write an IPv6 address in brackets. */
function addressOf(hop: string): string | null {
  const text = hop.trim();
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  return isIP(bare) === 0 ? null : bare;
}

/** Gives the subscriber of an address. An IPv6 subscriber owns a whole /64, whose addresses are counted as one. */
function subscriber(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').toLowerCase();
  if (isIP(plain) !== 6) return plain;
  const network = expandIPv6(plain).split(':').slice(0, 4);
  return network.map((group) => group.replace(/^0+(?=.)/, '')).join(':');
}

/** Warns once of a proxy that is not trusted: all its clients share one address, and that address's limits. */
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
