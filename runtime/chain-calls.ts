import { Counter, type Registry } from 'prom-client';

/** Counts a request that was sent to a node of a chain. `outcome` is `ok`, or why it failed. */
export type CountChainCall = (chainId: number, method: string, outcome: string) => void;

/** Counts chain calls as `rpc_requests_total{chain, method, outcome}`. */
export function chainCallCounter(registry: Registry): CountChainCall {
  const counter = new Counter({
    name: 'rpc_requests_total',
    help: 'Requests sent to nodes of a chain',
    labelNames: ['chain', 'method', 'outcome'] as const,
    registers: [registry],
  });
  return (chainId, method, outcome) => counter.inc({ chain: String(chainId), method, outcome });
}
