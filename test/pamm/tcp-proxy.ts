import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** From now on nothing passes on the connections that are open; they stay open. New ones are served as ever. */
  silence(): void;
  /** Breaks the connections that are open. */
  cut(): void;
  stop(): Promise<void>;
}

/** Stands before a server whose machine can vanish: its connections then neither answer nor close. */
export async function startTcpProxy(host: string, port: number): Promise<TcpProxy> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, host);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from.on('data', (data: Buffer) => to.write(data));
      from.on('error', () => to.destroy());
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    cut,
    port: (server.address() as AddressInfo).port,
    silence() {
      for (const socket of open) socket.removeAllListeners('data').pause();
    },
    async stop() {
      cut();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
