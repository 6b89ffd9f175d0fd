import { connect } from 'node:net';
import { CHAIN } from './world.ts';

export interface SlowEnd {
  /** Milliseconds until the API closed the connection. */
  readonly ms: number;
  /** All that it had sent by then. */
  readonly received: string;
}

const EVERY_MS = 500;

const HEADERS = 'GET /public/v1/chains HTTP/1.1\r\nHost: x\r\nX-Slow: ';
const bodyOf = (client: string): string =>
  [
    `POST /public/v1/evm/${CHAIN}/bid_ask/batch HTTP/1.1`,
    'Host: x',
    'Content-Type: application/json',
    `X-Forwarded-For: ${client}`,
    'Content-Length: 5000',
    '',
    '{"pools":[',
  ].join('\r\n');

/** Many clients that send a byte now and then, so that neither their headers nor their bodies ever end. */
export function startSlowClients(port: number, of: { readonly headers: number; readonly bodies: number }) {
  const headers = Array.from({ length: of.headers }, () => sendSlowly(port, HEADERS));
  const bodies = Array.from({ length: of.bodies }, (_, n) => sendSlowly(port, bodyOf(`172.16.0.${n}`)));
  return { headers: Promise.all(headers), bodies: Promise.all(bodies) };
}

function sendSlowly(port: number, first: string): Promise<SlowEnd> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const chunks: Buffer[] = [];
    let drip: NodeJS.Timeout | undefined;
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      socket.write(first);
      drip = setInterval(() => socket.write(' '), EVERY_MS);
    });
    socket.on('data', (chunk) => chunks.push(chunk));
    // A byte that was on its way when the API closed the connection.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(drip);
      resolve({ ms: performance.now() - startedAt, received: Buffer.concat(chunks).toString('latin1') });
    });
  });
}
