import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, toFunctionSelector } from 'viem';
import type { DevChain } from '../../devnet/dev-chain.ts';
import { providerAbi } from '../../devnet/protocol-abi.ts';
import type { BidAsk } from '../../protocol/curve.ts';
import { flatPoolFunctions } from '../../protocol/layouts/flat/pool-abi.ts';

interface TracedCall {
  readonly input: Hex;
  readonly output?: Hex;
  readonly calls?: readonly TracedCall[];
}

const ASKS_PROVIDER = toFunctionSelector('getBidAndAskPrice()');

/**
 * The quote behind a pool as the pool itself gets it, seen in a trace of its own price call: neither the service's stub
 * nor its inversion has a part in it.
 */
export async function providerQuote(chain: DevChain, pool: Address): Promise<BidAsk> {
  const data = encodeFunctionData({ abi: flatPoolFunctions, functionName: 'getSellAndBuyPrices' });
  const trace = (await chain.client.request({
    method: 'debug_traceCall',
    params: [{ to: pool, data }, 'latest', { tracer: 'callTracer' }],
  } as never)) as TracedCall;
  const output = outputOf(trace);
  if (!output) throw new Error(`${pool} does not ask its provider`);
  const [bidX64, askX64] = decodeFunctionResult({
    abi: providerAbi,
    functionName: 'getBidAndAskPrice',
    data: output,
  });
  return { bidX64, askX64 };
}

function outputOf(call: TracedCall): Hex | undefined {
  if (call.input.startsWith(ASKS_PROVIDER)) return call.output;
  return call.calls?.map(outputOf).find((output) => output !== undefined);
}
