import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';

/**
 * The address that a request is counted under.
 *
 * @param trustedProxies how many proxies stand before the service; each appends one entry to `X-Forwarded-For`, so the
 *   client is the entry that many from the right. Entries further left are the client's own claim and prove nothing.
 */
export function clientAddress(c: Context, trustedProxies: number): string {
  const peer = getConnInfo(c).remote.address ?? 'unknown';
  if (trustedProxies === 0) return subscriber(peer);
  const hops = (c.req.header('X-Forwarded-For') ?? '').split(',').map((hop) => hop.trim());
  return subscriber(hops.at(-trustedProxies) || peer);
}

/** One IPv6 subscriber owns a whole /64: its addresses are counted as one. */
function subscriber(address: string): string {
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  if (!plain.includes(':')) return plain;
  const [head = '', tail = ''] = plain.split('::');
  const left = head.split(':').filter(Boolean);
  const right = tail.split(':').filter(Boolean);
  const zeros = plain.includes('::') ? Array(8 - left.length - right.length).fill('0') : [];
  return [...left, ...zeros, ...right].slice(0, 4).join(':');
}
