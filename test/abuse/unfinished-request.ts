import { once } from 'node:events';
import { connect } from 'node:net';
import { type Answer, parseAnswers } from './send.ts';

/** A request that the API has begun to serve, and whose body is still to come. */
export interface UnfinishedRequest {
  /** Sends the body and waits for the answer and the end of the connection. */
  finish(): Promise<Answer | undefined>;
}

/** Sends the head of a request and waits for the leave to send its body: from then on it is in flight. */
export async function beginRequest(port: number, start: string, body: string): Promise<UnfinishedRequest> {
  const socket = connect({ port, host: '127.0.0.1' });
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  const headers = ['Host: x', 'X-Forwarded-For: 172.17.0.1', 'Content-Type: application/json', length];
  socket.write([`${start} HTTP/1.1`, ...headers, 'Expect: 100-continue', '', ''].join('\r\n'));
  while (!received.includes('100 Continue')) await once(socket, 'data');
  return {
    finish: async () => {
      socket.write(body);
      await once(socket, 'close');
      return parseAnswers(received).answers.at(-1);
    },
  };
}

/** Whether the port refuses connections. */
export function isRejected(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      socket.destroy();
      resolve(false);
    });
    socket.on('error', () => resolve(true));
  });
}
