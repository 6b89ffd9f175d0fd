import type { IncomingMessage, Server } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import type { MockState } from './behaviour.ts';

/** One transport of a mock builder over a WebSocket. */
export interface SocketProtocol {
  readonly path: string;
  readonly keyHeader: string;
  /** Takes a message. Returns what makes the response to it when it is due. */
  readonly receive: (
    state: MockState,
    frame: Buffer,
    key: string | undefined,
    connection: number,
  ) => () => Uint8Array | string;
}

/** What no transport takes for a response. */
export const GARBAGE = '{"jsonrpc":"2.0","id":';

/** The key that a request carries in a header. */
export const keyOf = ({ headers }: IncomingMessage, header: string): string | undefined => headers[header]?.toString();

/** Serves the transports on an HTTP server. Returns how to end it. */
export function attachSockets(server: Server, state: MockState, protocols: readonly SocketProtocol[]): () => void {
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    const protocol = protocols.find(({ path }) => path === request.url);
    const refusal = protocol ? refusalOf(state) : '404 Not Found';
    if (protocol && !refusal) {
      sockets.handleUpgrade(request, socket, head, (ws) =>
        serve(state, ws, protocol, keyOf(request, protocol.keyHeader)),
      );
      return;
    }
    state.refusals += 1;
    socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\n\r\n`);
  });
  return () => {
    for (const ws of sockets.clients) ws.terminate();
    sockets.close();
  };
}

/** Status and reason with which a connection is refused, if it is. */
export function refusalOf({ behaviour }: MockState): string | undefined {
  if (behaviour.kind === 'too-many-requests') return '429 Too Many Requests';
  if (behaviour.kind === 'http-status') return `${behaviour.status} Refused`;
  return undefined;
}

function serve(state: MockState, ws: WebSocket, { receive }: SocketProtocol, key: string | undefined): void {
  state.connections += 1;
  const connection = state.connections;
  state.authorizations.push(key);
  let messages = 0;
  ws.on('message', (frame: Buffer) => {
    messages += 1;
    answer(state, ws, receive(state, frame, key, connection), messages);
  });
}

function answer({ behaviour }: MockState, ws: WebSocket, respond: () => Uint8Array | string, messages: number): void {
  const send = (message: Uint8Array | string = respond()) => {
    if (ws.readyState === ws.OPEN) ws.send(message);
  };
  switch (behaviour.kind) {
    case 'hanging':
      break;
    case 'slow-ack':
      setTimeout(send, behaviour.delayMs);
      break;
    case 'held':
      void behaviour.until.then(() => send());
      break;
    case 'close-after':
      if (messages > behaviour.messages) ws.close();
      else send();
      break;
    case 'garbage':
      send(GARBAGE);
      break;
    case 'ack-twice':
      send();
      send();
      break;
    default:
      send();
  }
}
