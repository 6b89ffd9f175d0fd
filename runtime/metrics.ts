import { collectDefaultMetrics, Registry } from 'prom-client';

/** A registry whose samples name the process. */
export function createRegistry(process: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ process });
  return registry;
}

/** A registry of one process that includes Node's own metrics (memory, event loop lag, garbage collection). */
export function createMetrics(process: string): Registry {
  const registry = createRegistry(process);
  collectDefaultMetrics({ register: registry });
  return registry;
}
