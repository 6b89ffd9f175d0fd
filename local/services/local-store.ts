import type { ServiceProcess } from './service-process.ts';
import type { TempFolder } from './temp-folder.ts';

/** Where a store keeps its data between runs, and the password of its owner. */
export interface Kept {
  readonly folder: string;
  readonly password: string;
  /** Gets all output. */
  readonly output?: NodeJS.WritableStream | undefined;
}

/** A store on a port of the loopback interface, with its data in a temporary folder or in one that is kept. */
export interface LocalStore {
  readonly url: string;
  readonly port: number;
  readonly pid: () => number;
  /** How the process that runs now ends. */
  readonly end: () => Promise<string>;
  readonly recentOutput: () => string;
  /** Stops it and removes temporary data. */
  readonly stop: () => Promise<void>;
  /** Ends it as a crash would; what it has on disk stays for {@link LocalStore.restart}. */
  readonly kill: () => Promise<void>;
  /** Starts it again on the same port with what it has on disk, after a {@link LocalStore.kill}. */
  readonly restart: (signal?: AbortSignal) => Promise<void>;
}

/** The controls of a store that runs. */
export function storeControls(
  first: ServiceProcess,
  serveAgain: (signal?: AbortSignal) => Promise<ServiceProcess>,
  folder: TempFolder,
  { url, port }: Pick<LocalStore, 'url' | 'port'>,
): LocalStore {
  let service = first;
  return {
    url,
    port,
    pid: () => service.pid,
    end: () => service.ended,
    recentOutput: () => service.recentOutput(),
    kill: () => service.kill(),
    stop: async () => {
      await service.stop();
      await folder.remove();
    },
    restart: async (signal) => {
      service = await serveAgain(signal);
    },
  };
}
