import {
  type Address,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  multicall3Abi,
  type PublicClient,
  parseAbi,
} from 'viem';

export type PoolCall = { readonly target: Address; readonly data: Hex };
export type CallResult = { readonly success: boolean; readonly data: Hex };

/** Results of one `eth_call`, and the block it ran on. */
export type CallsAtBlock = {
  readonly blockNumber: number;
  /** Unix seconds. */
  readonly blockTimestamp: number;
  readonly results: readonly CallResult[];
};

const clockAbi = parseAbi([
  'function getBlockNumber() view returns (uint256 blockNumber)',
  'function getCurrentBlockTimestamp() view returns (uint256 timestamp)',
]);
const CLOCK_CALLS = [
  encodeFunctionData({ abi: clockAbi, functionName: 'getBlockNumber' }),
  encodeFunctionData({ abi: clockAbi, functionName: 'getCurrentBlockTimestamp' }),
];

/**
 * Runs all calls in one `eth_call` of Multicall3; a call that reverts is a result, not an error.
 *
 * @throws viem errors when the node fails, or the calls together need more gas than it gives
 */
export async function callMany(
  client: PublicClient,
  multicall3: Address,
  calls: readonly PoolCall[],
): Promise<CallsAtBlock> {
  const clock = CLOCK_CALLS.map((data) => ({ target: multicall3, data }));
  const args = [...clock, ...calls].map(({ target, data }) => ({ target, callData: data, allowFailure: true }));
  const { data } = await client.call({
    to: multicall3,
    data: encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [args] }),
  });
  const answers = decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: data ?? '0x' });
  const [number, timestamp, ...results] = answers.map(({ success, returnData }) => ({ success, data: returnData }));
  return { blockNumber: wordOf(number), blockTimestamp: wordOf(timestamp), results };
}

function wordOf(result: CallResult | undefined): number {
  if (!result?.success) throw new Error('Multicall3 did not answer with its block');
  return Number(BigInt(result.data));
}
