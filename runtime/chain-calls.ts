import { Counter, type Registry } from 'prom-client';
import type { Transport } from 'viem';

/** Told of each request that left for a node of a chain; `outcome` is `ok` or why it failed. */
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

/** A viem transport whose requests are counted, as `ok` or `failed`; what it retries by itself counts once. */
export function countedTransport<T extends Transport>(
  transport: T,
  count: (method: string, outcome: 'ok' | 'failed') => void,
): T {
  const counted = (parameters: Parameters<T>[0]) => {
    const inner = transport(parameters);
    const request: typeof inner.request = async (call) => {
      try {
        const answer = await inner.request(call);
        count(call.method, 'ok');
        return answer as never;
      } catch (error) {
        count(call.method, 'failed');
        throw error;
      }
    };
    return { ...inner, request };
  };
  return counted as T;
}
