import { freePort } from '../../runtime/free-port.ts';
import { ServiceError } from './service-error.ts';

const ATTEMPTS = 5;

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
