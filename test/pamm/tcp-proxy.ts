import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** From now on nothing passes on the connections that are open; they stay open. New ones are served as ever. */
  silence(): void;
  /** Breaks the connections that are open. */
  cut(): void;
  /** Breaks them, and takes no new ones. */
  stop(): Promise<void>;
  /** On the same port. */
  restart(): Promise<void>;
}

/**
 * Stands before a server whose machine can vanish: its connections then neither answer nor close.
 *
 * @param breaksAt whether a connection breaks before these bytes of the server reach the client
 */
export async function startTcpProxy(
  host: string,
  port: number,
  breaksAt: (data: Buffer) => boolean = () => false,
): Promise<TcpProxy> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, host);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from.on('data', (data: Buffer) => (from === upstream && breaksAt(data) ? from.destroy() : to.write(data)));
      from.on('error', () => to.destroy());
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
    }
  });
  const listen = async (on: number) => {
    server.listen(on, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const ownPort = await listen(0);
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    cut,
    port: ownPort,
    silence() {
      for (const socket of open) socket.removeAllListeners('data').pause();
    },
    async stop() {
      cut();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
    async restart() {
      await listen(ownPort);
    },
  };
}
