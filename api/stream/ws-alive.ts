import type { WebSocket } from 'ws';

/** How often a client is pinged. */
const PING_MS = 15_000;
/** A client that leaves this much of responses unread does not read. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/**
 * Terminates a socket whose client has not answered a ping for twice `pingMs`, or that pings and sends operations without
 * reading the responses.
 */
export function keepAlive(socket: WebSocket, onTerminated: () => void, pingMs = PING_MS): void {
  let unanswered = 0;
  const terminate = () => {
    // What came before the end is still emitted.
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
    if (socket.bufferedAmount > MAX_UNREAD_BYTES) terminate();
  };
  socket.on('pong', () => {
    unanswered = 0;
  });
  socket.on('ping', (data) => socket.pong(data));
  for (const event of ['ping', 'message']) socket.on(event, checkRead);
  socket.once('close', () => clearInterval(timer));
}
