import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { RequestError } from '@hono/node-server';

/** HTTP statuses by error code of Node's parser and timers. All other errors are malformed HTTP. */
const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** An error of Node's parser, with the bytes that it could not parse. */
type HttpParseError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

/**
 * Sends an error to a connection whose bytes are not an HTTP request or come too slowly, then closes it. A connection
 * that was never used is closed silently: its client may just be sending a first request, and would take the error for
 * the response.
 */
export function rejectMalformedHttp(error: HttpParseError, socket: Socket): void {
  // If a response has begun, the client would read another status line as part of its body.
  if (socket.bytesRead > 0 && socket.writable && error.code !== 'ECONNRESET' && !hasBegunAnswer(socket)) {
    const status = STATUS_OF_CODE[error.code ?? ''] ?? 400;
    // After HEAD, a client takes a body for the start of the next response. HEAD may stand anywhere in the bytes.
    const body = error.rawPacket?.includes('HEAD ') ? '' : errorBody(status);
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Cache-Control: no-store',
      'Connection: close',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  }
  socket.destroy(error);
}

/** Node keeps the response in flight on its socket, under a name that has not changed in ten years. */
function hasBegunAnswer(socket: Socket & { readonly _httpMessage?: ServerResponse | null }): boolean {
  return socket._httpMessage?.headersSent ?? false;
}

/** Rejects an `Expect` header other than `100-continue`, with 417. */
export function rejectExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', Connection: 'close' };
  response.writeHead(417, headers).end(errorBody(417));
}

/** Returns 400 for a request whose target or host is not a URL, 500 for a failure that the app should have caught. */
export function answerFailure(error: unknown): Response {
  const isRefusal = error instanceof RequestError;
  if (!isRefusal) process.emitWarning(error instanceof Error ? error : String(error));
  const status = isRefusal ? 400 : 500;
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  return new Response(errorBody(status), { status, headers });
}

const errorBody = (status: number): string =>
  JSON.stringify({ error: status === 500 ? 'Internal server error' : (STATUS_CODES[status] ?? 'Bad Request') });
