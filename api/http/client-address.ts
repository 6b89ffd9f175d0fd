import { isIP } from 'node:net';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';

/**
 * The address that a request is counted under.
 *
 * @param trustedProxies how many proxies stand before the service; each appends one entry to `X-Forwarded-For`, so the
 *   client is the entry that many from the right. Entries further left are the client's own claim and prove nothing. An
 *   entry that is no address counts as missing, which leaves the peer's.
 */
export function clientAddress(c: Context, trustedProxies: number): string {
  const peer = getConnInfo(c).remote.address ?? 'unknown';
  if (trustedProxies === 0) return subscriber(peer);
  const hops = (c.req.header('X-Forwarded-For') ?? '').split(',');
  return subscriber(addressOf(hops.at(-trustedProxies) ?? '') ?? peer);
}

/** Some proxies add the port, and then write an IPv6 address in brackets. */
function addressOf(hop: string): string | null {
  const text = hop.trim();
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  return isIP(bare) === 0 ? null : bare;
}

/** One IPv6 subscriber owns a whole /64: its addresses are counted as one. */
function subscriber(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (isIP(plain) !== 6) return plain;
  const [head = '', tail = ''] = plain.split('::');
  const left = groups(head);
  const right = groups(tail);
  const zeros = plain.includes('::') ? Array<string>(8 - left.length - right.length).fill('0') : [];
  return [...left, ...zeros, ...right].slice(0, 4).join(':');
}

/** The 16-bit groups of a part of an IPv6 address in one spelling; an IPv4 address at its end is two of them. */
function groups(part: string): string[] {
  const texts = part.split(':').filter(Boolean);
  return texts.flatMap((text) => (text.includes('.') ? ['0', '0'] : [Number.parseInt(text, 16).toString(16)]));
}
