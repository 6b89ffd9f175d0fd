import { request } from '../../devnet/json-rpc.ts';
import type { ProxiedRequest } from '../../devnet/misbehaviour.ts';

/** Gas of each `eth_call` among these requests, as the node itself traces it. */
export async function callGas(url: string, requests: readonly ProxiedRequest[]): Promise<readonly number[]> {
  const gas: number[] = [];
  for (const { params } of requests.filter(({ method }) => method === 'eth_call')) {
    const [call, block, stateOverrides] = params;
    const tracing = { tracer: 'callTracer', tracerConfig: { onlyTopCall: true } };
    const options = stateOverrides ? { ...tracing, stateOverrides } : tracing;
    const { gasUsed } = await request<{ gasUsed: string }>(url, 'debug_traceCall', [call, block, options]);
    gas.push(Number(gasUsed));
  }
  return gas;
}
