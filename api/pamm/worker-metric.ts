import { Gauge, type Registry } from 'prom-client';

/** `pamm_worker_missing`: 1 while no builders worker runs; no sample without a usable builder. */
export function registerWorkerMetric(registry: Registry, workerMissing: () => boolean | null): void {
  const gauge: Gauge = new Gauge({
    name: 'pamm_worker_missing',
    help: '1 while no builders worker takes the quote updates of this API',
    registers: [registry],
    collect() {
      const missing = workerMissing();
      if (missing === null) gauge.remove();
      else gauge.set(Number(missing));
    },
  });
}
