import type { WebSocket } from 'ws';

/** How often a client is asked whether it is there. */
const PING_MS = 15_000;
/** A client that lets this much of answers lie does not read. */
export const MAX_UNREAD_BYTES = 1024 * 1024;

/** Cuts a socket whose client has not answered a ping for twice `pingMs`, or pings without reading the answers. */
export function keepAlive(socket: WebSocket, onCut: () => void, pingMs = PING_MS): void {
  let unanswered = 0;
  const cut = () => {
    // Pings that came before the end are still told.
    socket.removeAllListeners('ping');
    onCut();
    socket.terminate();
  };
  const timer = setInterval(() => {
    if (unanswered === 2) return cut();
    unanswered += 1;
    socket.ping();
  }, pingMs);
  socket.on('pong', () => {
    unanswered = 0;
  });
  socket.on('ping', (data) => (socket.bufferedAmount > MAX_UNREAD_BYTES ? cut() : socket.pong(data)));
  socket.once('close', () => clearInterval(timer));
}
