import type { WebSocket } from 'ws';

/** How often a client is pinged. */
const PING_MS = 15_000;
/** A client counts as one that does not read when it leaves this much unread besides one message. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/** A socket, and the bytes of the largest message that was sent over it, which its client may leave unread. */
interface KeptSocket {
  readonly socket: WebSocket;
  readonly largestMessage: number;
}

/**
 * Terminates a socket whose client has not answered a ping for twice `pingMs`, or sends pings and operations without
 * reading the responses.
 */
export function keepAlive(opened: KeptSocket, onTerminated: () => void, pingMs = PING_MS): void {
  const { socket } = opened;
  let unanswered = 0;
  const terminate = () => {
    // The socket still emits what came before its end.
    for (const event of ['ping', 'message']) socket.removeAllListeners(event);
    onTerminated();
    socket.terminate();
  };
  const timer = setInterval(() => {
    if (unanswered === 2) return terminate();
    unanswered += 1;
    socket.ping();
  }, pingMs);
  const checkRead = () => {
    if (socket.bufferedAmount > MAX_UNREAD_BYTES + opened.largestMessage) terminate();
  };
  socket.on('pong', () => {
    unanswered = 0;
  });
  socket.on('ping', (data) => socket.pong(data));
  for (const event of ['ping', 'message']) socket.on(event, checkRead);
  socket.once('close', () => clearInterval(timer));
}
