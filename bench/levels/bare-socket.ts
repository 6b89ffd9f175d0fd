import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { WebSocket } from 'ws';
import { createWebSocketServer } from '../../runtime/web-sockets.ts';
import { serveMeasured } from '../serve-measured.ts';

/**
 * The least that sending a frame to all connections can cost. A POST gives the bytes of a frame,
 * which it sends to each.
 */
serveMeasured(async () => {
  const sockets = createWebSocketServer();
  const open = new Set<WebSocket>();
  const server = createServer(async (request, response) => {
    const frame = await buffer(request);
    for (const socket of open) socket.send(frame, { binary: false });
    response.end();
  });
  server.on('upgrade', (request, tcp, head) => {
    sockets.handleUpgrade(request, tcp, head, (socket) => {
      open.add(socket);
      socket.on('close', () => open.delete(socket));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return [(server.address() as AddressInfo).port];
});
