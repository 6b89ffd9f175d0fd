import { collectDefaultMetrics, Registry } from 'prom-client';

/** A registry of one process with Node's own figures (memory, event loop lag, garbage collection) in it. */
export function createMetrics(process: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ process });
  collectDefaultMetrics({ register: registry });
  return registry;
}
