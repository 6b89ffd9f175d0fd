import type { Logger } from '../../../runtime/logger.ts';
import type { BuildersMetrics } from '../../submit/metrics.ts';
import { isCancel, type Submission } from '../../submit/quote-update.ts';
import type { Simulator } from './simulator.ts';

/** Simulations at a time; an update beyond them is not simulated, so that a slow node collects none. */
const MAX_RUNNING = 16;

/** Simulates the live updates of a chain; results are logged and counted, and nothing waits for them. */
export class BackgroundSimulation {
  readonly #simulator: Simulator;
  readonly #metrics: BuildersMetrics;
  readonly #logger: Logger;
  #running = 0;

  constructor(simulator: Simulator, metrics: BuildersMetrics, logger: Logger) {
    this.#simulator = simulator;
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /** Never rejects. */
  async run({ id, update }: Submission): Promise<void> {
    if (isCancel(update)) return;
    this.#running += 1;
    const isLate = this.#running > MAX_RUNNING;
    const result = isLate ? { outcome: 'late' as const } : await this.#simulator.simulate(update.tx);
    this.#running -= 1;
    this.#metrics.simulations.inc({ chain: String(update.chainId), outcome: result.outcome });
    this.#logger.info({ submission: id, ...result }, 'update simulated');
  }
}
