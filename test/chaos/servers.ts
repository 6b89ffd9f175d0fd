import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../local/services/service-error.ts';

/** What {@link KillableServer} needs of a Postgres or a Redis. */
interface Server {
  kill(): Promise<void>;
  restart(): Promise<void>;
}

const RETRY_MS = 250;
const RETRIES = 40;

/** A Postgres or Redis that is killed now and then and comes back on the same port with the same data. */
export class KillableServer {
  readonly name: string;
  readonly #server: Server;
  /** When it was killed, Unix milliseconds. */
  readonly killedAtMs: number[] = [];

  constructor(name: string, server: Server) {
    this.name = name;
    this.#server = server;
  }

  get kills(): number {
    return this.killedAtMs.length;
  }

  /** Kills it and starts it again after a while. */
  async crash(downMs: number): Promise<void> {
    this.killedAtMs.push(Date.now());
    await this.#server.kill();
    await sleep(downMs);
    await this.#startAgain();
  }

  /** The last process of a killed server may still hold the data for a short time. */
  async #startAgain(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#server.restart();
      } catch (error) {
        if (!(error instanceof ServiceError) || attempt === RETRIES) throw error;
        await sleep(RETRY_MS);
      }
    }
  }
}
