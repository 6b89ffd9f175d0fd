import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { RequestError } from '@hono/node-server';

/** What Node's parser and timers report, other than plain broken HTTP. */
const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** With the bytes that the parser choked on. */
type HttpParseError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

/**
 * Answers a connection whose bytes are no HTTP request, or come too slowly, and closes it. One that was opened and never
 * used is closed silently: a client may send its first request at the same time, and would take it for the response.
 */
export function rejectMalformedHttp(error: HttpParseError, socket: Socket): void {
  // Inside an answer that has begun, another status line would be read as part of its body.
  if (socket.bytesRead > 0 && socket.writable && error.code !== 'ECONNRESET' && !hasBegunAnswer(socket)) {
    const status = STATUS_OF_CODE[error.code ?? ''] ?? 400;
    // Who asks with HEAD takes a body for the start of another answer. The request may stand anywhere in the bytes.
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

/** Node keeps the response that is being written on its socket, under a name that has not changed in ten years. */
function hasBegunAnswer(socket: Socket & { readonly _httpMessage?: ServerResponse | null }): boolean {
  return socket._httpMessage?.headersSent ?? false;
}

/** Answers `Expect` with anything but `100-continue`. */
export function rejectExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', Connection: 'close' };
  response.writeHead(417, headers).end(errorBody(417));
}

/** Answers a request whose target or host is no URL. Any other failure is one that the app should have caught itself. */
export function answerFailure(error: unknown): Response {
  const isRefusal = error instanceof RequestError;
  if (!isRefusal) process.emitWarning(error instanceof Error ? error : String(error));
  const status = isRefusal ? 400 : 500;
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  return new Response(errorBody(status), { status, headers });
}

const errorBody = (status: number): string =>
  JSON.stringify({ error: status === 500 ? 'Internal server error' : (STATUS_CODES[status] ?? 'Bad Request') });
