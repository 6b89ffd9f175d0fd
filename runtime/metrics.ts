import { collectDefaultMetrics, Registry } from 'prom-client';

/** A registry whose samples name the process. */
export function createRegistry(process: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ process });
  return registry;
}

/** How often the delay of the event loop is measured, milliseconds: each time wakes an idle process. */
const LOOP_DELAY_EVERY_MS = 20;

/** A registry of one process that includes Node's own metrics (memory, event loop lag, garbage collection). */
export function createMetrics(process: string): Registry {
  const registry = createRegistry(process);
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_DELAY_EVERY_MS });
  return registry;
}
