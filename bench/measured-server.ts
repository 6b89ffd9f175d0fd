import { fileURLToPath } from 'node:url';
import { startService } from '../local/services/service-process.ts';

export interface MeasuredServer {
  readonly pid: number;
  /** In the order in which it printed their ports. */
  readonly urls: readonly string[];
  readonly stop: () => Promise<void>;
}

/** Starts a server in a process of its own, so that what it takes is not the client's. @param source prints its ports in a line */
export async function startMeasuredServer(source: URL, env: NodeJS.ProcessEnv = {}): Promise<MeasuredServer> {
  const ports = /^\d+(?: \d+)*$/m;
  const { pid, stop, recentOutput } = await startService({
    name: 'server',
    command: process.execPath,
    args: ['--import', 'tsx', fileURLToPath(source)],
    env: { ...process.env, ...env },
    ready: ports,
  });
  const [line = ''] = ports.exec(recentOutput()) ?? [];
  return { pid, stop, urls: line.split(' ').map((port) => `http://127.0.0.1:${port}`) };
}
