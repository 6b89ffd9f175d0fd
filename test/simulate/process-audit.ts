import { LEASE_MS, RENEW_MS } from '../../quoting/sharing/feed-schedule.ts';
import type { Findings } from './findings.ts';
import type { World } from './world.ts';

const MINUTE_MS = 60_000;

/** Looks at what processes do: who reads sources, and how many calls scheduled reads make. */
export class ProcessAudit {
  readonly #world: World;
  readonly #findings: Findings;
  #redisBadAt = 0;

  constructor(world: World, findings: Findings) {
    this.#world = world;
    this.#findings = findings;
  }

  /** To be called a few times a second. */
  check(): void {
    this.#checkSourceReaders();
    this.#checkBudgets();
  }

  /** While Redis works, one process reads sources, but for the length of a lease. */
  #checkSourceReaders(): void {
    const { processes, redis, time } = this.#world;
    if (redis.state !== 'well') this.#redisBadAt = time.now;
    const reading = processes.filter(({ isReading }) => isReading).map(({ machine }) => machine.name);
    const isWrong = reading.length > 1 && time.now - this.#redisBadAt > LEASE_MS + 4 * RENEW_MS;
    if (this.#findings.lastsMs('two readers', isWrong) > LEASE_MS)
      this.#findings.found('two readers', `${reading.join(' and ')} read sources`);
  }

  #checkBudgets(): void {
    const { processes, config, time } = this.#world;
    for (const { machine, calls } of processes)
      for (const [basis, made] of Object.entries(calls)) {
        while ((made[0] ?? Number.POSITIVE_INFINITY) <= time.now - MINUTE_MS) made.shift();
        if (made.length > config.warmBudget.callsPerMinute)
          this.#findings.found('budget', `${machine.name} made ${made.length} ${basis} calls in a minute`);
      }
  }
}
