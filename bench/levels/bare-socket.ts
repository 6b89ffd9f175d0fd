import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WebSocket } from 'ws';
import { runMain } from '../../runtime/run-main.ts';
import { createWebSocketServer } from '../../runtime/web-sockets.ts';

/**
 * A process of its own: the least that sending a frame to all connections can cost. A POST gives the bytes of a frame, which
 * it sends to each. Prints its port.
 */
runMain(async () => {
  const sockets = createWebSocketServer();
  const open = new Set<WebSocket>();
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const frame = Buffer.concat(parts);
      for (const socket of open) socket.send(frame, { binary: false });
      response.end();
    });
  });
  server.on('upgrade', (request, tcp, head) => {
    sockets.handleUpgrade(request, tcp, head, (socket) => {
      open.add(socket);
      socket.on('close', () => open.delete(socket));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
  process.on('SIGTERM', () => process.exit(0));
});
