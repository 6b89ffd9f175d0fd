import type { ProxiedRequest } from '../../devnet/rpc-proxy.ts';

/** Gas of each `eth_call` among these requests, as the node itself traces it. */
export async function callGas(url: string, requests: readonly ProxiedRequest[]): Promise<readonly number[]> {
  const gas: number[] = [];
  for (const { params } of requests.filter(({ method }) => method === 'eth_call')) {
    const [call, block, stateOverrides] = params;
    const options = {
      tracer: 'callTracer',
      tracerConfig: { onlyTopCall: true },
      ...(stateOverrides ? { stateOverrides } : {}),
    };
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'debug_traceCall', params: [call, block, options] }),
    });
    const { result } = (await response.json()) as { result?: { gasUsed: string } };
    if (!result) throw new Error('the node did not trace a call');
    gas.push(Number(result.gasUsed));
  }
  return gas;
}
