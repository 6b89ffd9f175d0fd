import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import type { AbuseRequest } from './requests.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const TIMEOUT_MS = 30_000;

export interface Sender {
  /** Sends a request as the one proxy before the API would: with the client's address at the end of the list. */
  send(request: AbuseRequest, client: string): Promise<Answer>;
  close(): void;
}

/** A client with kept connections. */
export function createSender(port: number, connections: number): Sender {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return {
    send: ({ method, target, headers, body }, client) => {
      const named = Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
      const claimed = named['x-forwarded-for'];
      const forwarded = claimed === undefined ? client : `${claimed}, ${client}`;
      const length = body === null ? {} : { 'content-length': String(body.length) };
      return new Promise((resolve, reject) => {
        const request = httpRequest(
          {
            agent,
            method,
            host: '127.0.0.1',
            port,
            path: target,
            timeout: TIMEOUT_MS,
            headers: { ...named, ...length, 'x-forwarded-for': forwarded },
          },
          (response) => {
            const chunks: Buffer[] = [];
            response.on('data', (chunk: Buffer) => chunks.push(chunk));
            response.on('error', reject);
            response.on('end', () => {
              const text = Buffer.concat(chunks).toString('latin1');
              resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
            });
          },
        );
        request.on('timeout', () => request.destroy(new Error(`no answer in ${TIMEOUT_MS} ms: ${method} ${target}`)));
        request.on('error', reject);
        request.end(body ?? undefined);
      });
    },
    close: () => agent.destroy(),
  };
}

/** Silence after which a client that broke its own request gives up, and after which it takes an answer for whole. */
const SEND_TIMEOUT_MS = 200;
const ANSWERED_MS = 30;

/**
 * Sends bytes, one per character, over a connection of their own,
 * and closes it for writing when nothing more comes back.
 *
 * @returns all that came back until the API closed its end too; a reset counts as its end
 */
export function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const chunks: Buffer[] = [];
    let quiet = setTimeout(() => socket.end(), SEND_TIMEOUT_MS);
    const limit = setTimeout(() => {
      reject(new Error(`not closed in ${TIMEOUT_MS} ms after ${JSON.stringify(text.slice(0, 300))}`));
      socket.destroy();
    }, TIMEOUT_MS);
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      clearTimeout(quiet);
      quiet = setTimeout(() => socket.end(), ANSWERED_MS);
    });
    // The API may close its end while bytes are still in flight to it.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(quiet);
      clearTimeout(limit);
      resolve(Buffer.concat(chunks).toString('latin1'));
    });
    socket.write(Buffer.from(text, 'latin1'));
  });
}

/** The answers in what a connection gave; what is left behind them is no answer. */
export function parseAnswers(stream: string): { answers: Answer[]; rest: string } {
  const answers: Answer[] = [];
  let rest = stream;
  for (;;) {
    const head = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/.exec(rest);
    if (!head) return { answers, rest };
    const headers = Object.fromEntries(
      (head[2] ?? '').split('\r\n').flatMap((line) => {
        const colon = line.indexOf(':');
        return colon < 0 ? [] : [[line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]];
      }),
    );
    const end = head[0].length + Number(headers['content-length'] ?? 0);
    const isChunked = headers['transfer-encoding'] === 'chunked';
    const body = isChunked ? rest.slice(head[0].length) : rest.slice(head[0].length, end);
    answers.push({
      status: Number(head[1]),
      headers,
      body: isChunked ? body.replace(/^[0-9a-f]+\r\n|\r\n0\r\n\r\n$/gi, '') : body,
    });
    rest = isChunked ? '' : rest.slice(end);
  }
}
