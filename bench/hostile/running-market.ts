import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { keepTrading } from '../../test/many-pools/activity.ts';
import type { MeasuredProcess } from '../measured-process.ts';

const CATCH_UP_MS = 5_000;
const PAUSE_AGAIN_MS = 20;

/** The trading and the processes of a market. Markets of one machine take turns: all but one are paused. */
export class RunningMarket {
  readonly #database: pg.Pool;
  readonly #chainIds: readonly number[];
  readonly #processes: MeasuredProcess[] = [];
  #trading: { readonly end: () => void; readonly done: Promise<void> };

  constructor(database: pg.Pool, chainIds: readonly number[]) {
    this.#database = database;
    this.#chainIds = chainIds;
    this.#trading = this.#trade();
  }

  add(process: MeasuredProcess): void {
    this.#processes.push(process);
  }

  async pause(): Promise<void> {
    await this.endTrading();
    for (this.#signal('SIGSTOP'); await isBusy(this.#database); this.#signal('SIGSTOP')) {
      this.#signal('SIGCONT');
      await sleep(PAUSE_AGAIN_MS);
    }
  }

  /** Resumes, with some time to catch up. */
  async resume(): Promise<void> {
    this.#signal('SIGCONT');
    this.#trading = this.#trade();
    await sleep(CATCH_UP_MS);
  }

  async endTrading(): Promise<void> {
    this.#trading.end();
    await this.#trading.done;
  }

  #trade() {
    const ending = new AbortController();
    const done = keepTrading(this.#database, this.#chainIds, ending.signal);
    done.catch(() => undefined); // `endTrading` reports it. If the bench fails before, it must not hide that error.
    return { end: () => ending.abort(), done };
  }

  #signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    for (const { pid } of this.#processes) process.kill(pid, name);
  }
}

/**
 * Whether a statement runs or a transaction is open.
 * One that is paused would make all that comes after it look unseen to refreshes.
 */
async function isBusy(database: pg.Pool): Promise<boolean> {
  const { rowCount } = await database.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
       AND state <> 'idle' AND pid <> pg_backend_pid()`,
  );
  return rowCount !== 0;
}
