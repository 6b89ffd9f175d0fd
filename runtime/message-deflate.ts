import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { constants, deflateRaw, type ZlibOptions } from 'node:zlib';
import type { PerMessageDeflateOptions } from 'ws';
import { textFrame } from './text-frame.ts';

/*
 * Compressed messages of WebSockets (RFC 7692). Each message is compressed without those before it, so that one that
 * goes to many clients is compressed once. The sockets themselves compress nothing.
 */

/**
 * The window of our compression: a client that takes less than this, as an exponent of 2, gets messages as they are.
 */
const WINDOW_BITS = 12;
/** Shorter messages gain nothing. */
export const DEFLATE_FROM_BYTES = 1024;

/** How servers of WebSockets take offers that passed {@link narrowOffers}. */
export const NO_OWN_COMPRESSION: PerMessageDeflateOptions = {
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
  threshold: Number.POSITIVE_INFINITY,
};

const PARAMETERS = /^(?:(?:server|client)_no_context_takeover|client_max_window_bits(?:="?(?:[89]|1[0-5])"?)?)$/;
const SERVER_WINDOW = /^server_max_window_bits="?([89]|1[0-5])"?$/;

/**
 * Leaves of the extensions that a client offers the first compression that we can do. Without one the socket opens
 * without extensions: an offer rejects no client.
 */
export function narrowOffers({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const offers = headers['sec-websocket-extensions']?.split(',') ?? [];
  delete headers['sec-websocket-extensions'];
  for (const offer of offers) {
    const [name, ...parameters] = offer.split(';').map((part) => part.replace(/\s/g, ''));
    const windows = parameters.flatMap((parameter) => SERVER_WINDOW.exec(parameter)?.[1] ?? []);
    const isKnown = parameters.every((parameter) => PARAMETERS.test(parameter) || SERVER_WINDOW.test(parameter));
    if (name !== 'permessage-deflate' || !isKnown || windows.some((bits) => Number(bits) < WINDOW_BITS)) continue;
    const window = windows.length > 0 ? `; server_max_window_bits=${WINDOW_BITS}` : '';
    headers['sec-websocket-extensions'] = `permessage-deflate${window}`;
    return;
  }
}

const deflate = promisify<Uint8Array, ZlibOptions, Buffer<ArrayBuffer>>(deflateRaw);

/** Compresses a part of messages in a thread of Node's thread pool. It ends on a byte. */
export const deflateMessage = (content: Uint8Array): Promise<Buffer> =>
  deflate(content, {
    level: constants.Z_BEST_SPEED,
    windowBits: WINDOW_BITS,
    finishFlush: constants.Z_SYNC_FLUSH,
  });

/** Writes a block of at most 65,535 bytes as it is; nothing for none. */
function stored(content: Uint8Array): Buffer {
  if (content.length === 0) return Buffer.alloc(0);
  const head = Buffer.alloc(5);
  head.writeUInt16LE(content.length, 1);
  head.writeUInt16LE(0xff_ff - content.length, 3);
  return Buffer.concat([head, content]);
}

/** What stands for an empty last block, of which the form leaves out four bytes. */
const END = Buffer.of(0);

/**
 * Writes a message as a server sends it: one frame of the WebSocket protocol.
 *
 * @param deflated made by {@link deflateMessage}
 * @param head at most 65,535 bytes that come before it
 * @param tail at most 65,535 bytes that come after it
 */
export const deflatedFrame = (deflated: Uint8Array, head: Uint8Array, tail: Uint8Array): Buffer =>
  textFrame([stored(head), deflated, stored(tail), END], 'deflated');
