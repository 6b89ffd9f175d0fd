import { collectDefaultMetrics, Registry } from 'prom-client';

/** A registry whose samples name the process. */
export function createRegistry(process: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ process });
  return registry;
}

/** A registry of one process with Node's own figures (memory, event loop lag, garbage collection) in it. */
export function createMetrics(process: string): Registry {
  const registry = createRegistry(process);
  collectDefaultMetrics({ register: registry });
  return registry;
}
