import { randomInt } from 'node:crypto';
import getPort from 'get-port';
import { ServiceError } from './service-error.ts';

const HOST = '127.0.0.1';
const ATTEMPTS = 5;

/**
 * Below the ports that systems give to outgoing connections and to servers that ask for port 0 (from 32768 on Linux, from
 * 49152 elsewhere): none of those comes between choosing a port and binding it, or between a crash and a restart.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_767;
/** Ports that are tried before the system is asked for any. */
const CANDIDATES = 100;

/** A port of the loopback interface that is free just now, and that this process has not been given lately. */
export function freePort(): Promise<number> {
  return getPort({ host: HOST, port: Array.from({ length: CANDIDATES }, () => randomInt(FIRST_PORT, LAST_PORT + 1)) });
}

/**
 * Calls `start` with a free port of the loopback interface, and again with another one when a third process took the
 * port before the service bound it.
 */
export async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (!(error instanceof ServiceError && error.portTaken) || attempt === ATTEMPTS) throw error;
    }
  }
}
