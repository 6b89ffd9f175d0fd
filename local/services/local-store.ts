import type { ServiceProcess } from './service-process.ts';
import type { TempFolder } from './temp-folder.ts';

/** A store on a port of the loopback interface, with its data in a temporary folder. */
export interface LocalStore {
  readonly url: string;
  readonly port: number;
  readonly pid: () => number;
  /** Stops it and removes its data. */
  readonly stop: () => Promise<void>;
  /** Ends it as a crash would; what it has on disk stays for {@link LocalStore.restart}. */
  readonly kill: () => Promise<void>;
  /** Starts it again on the same port with what it has on disk, after a {@link LocalStore.kill}. */
  readonly restart: () => Promise<void>;
}

/** The controls of a store that runs. */
export function storeControls(
  first: ServiceProcess,
  serveAgain: () => Promise<ServiceProcess>,
  folder: TempFolder,
  { url, port }: Pick<LocalStore, 'url' | 'port'>,
): LocalStore {
  let service = first;
  return {
    url,
    port,
    pid: () => service.pid,
    kill: () => service.kill(),
    stop: async () => {
      await service.stop();
      await folder.remove();
    },
    restart: async () => {
      service = await serveAgain();
    },
  };
}
