import { connect } from 'node:net';
import { parseAnswers } from './send.ts';

export const LARGE_BYTES = 50_000_000;
const CHUNK = Buffer.alloc(64 * 1024, '[');

export interface LargeAnswer {
  /** Null when the connection was cut before an answer arrived. */
  readonly status: number | null;
  readonly body: string;
  /** How much of the body the API took in. */
  readonly sent: number;
}

/**
 * Sends a request with a body of 50 MB as fast as the API takes it, until the connection closes or all is sent.
 *
 * @param start method and path
 * @param isChunked without telling the length beforehand
 * @param client address that a proxy names
 */
export function sendLarge(port: number, start: string, isChunked: boolean, client: string): Promise<LargeAnswer> {
  const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${LARGE_BYTES}`;
  const head = [
    `${start} HTTP/1.1`,
    'Host: x',
    `X-Forwarded-For: ${client}`,
    'Content-Type: application/json',
    framing,
    '',
    '',
  ].join('\r\n');
  const piece = isChunked ? Buffer.concat([Buffer.from('10000\r\n'), CHUNK, Buffer.from('\r\n')]) : CHUNK;
  return new Promise((resolve) => {
    const received: Buffer[] = [];
    let sent = 0;
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      socket.write(head);
      pump();
    });
    const pump = () => {
      while (sent < LARGE_BYTES && !socket.destroyed) {
        sent += CHUNK.length;
        if (!socket.write(piece)) return;
      }
    };
    socket.on('drain', pump);
    socket.on('data', (chunk) => {
      received.push(chunk);
      if (sent >= LARGE_BYTES) socket.end();
    });
    // The API stops reading and closes while the body is on its way.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      const [answer] = parseAnswers(Buffer.concat(received).toString('latin1')).answers;
      resolve({ status: answer?.status ?? null, body: answer?.body ?? '', sent });
    });
  });
}
