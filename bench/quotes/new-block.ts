import type { Address } from 'viem';
import type { DevChain } from '../../devnet/dev-chain.ts';
import type { RpcProxy } from '../../devnet/rpc-proxy.ts';
import { print } from '../print.ts';
import { timeBatch } from '../time-batch.ts';
import type { FigureOf, Verdicts } from '../verdicts.ts';
import { callGas } from './call-gas.ts';

export interface NewBlockBench {
  readonly chain: DevChain;
  readonly proxy: RpcProxy;
  readonly api: string;
  readonly verdicts: Verdicts<'quotes'>;
}

const ROUNDS = 3;
/** Longer than a head is used after it was seen. */
const HEAD_MS = 1_100;

/**
 * What a batch cost at new blocks: the most calls, the gas of each `eth_call` of the first, the times, milliseconds.
 */
export interface NewBlockCost {
  readonly calls: number;
  readonly gas: readonly number[];
  readonly times: readonly number[];
}

/** Prints what a batch costs at new blocks: the most calls, the most expensive call of the first, the times. */
export async function measureNewBlock(
  bench: NewBlockBench,
  pools: readonly Address[],
  { name, figure }: { readonly name: string; readonly figure: FigureOf<'quotes'> },
): Promise<void> {
  const { verdicts } = bench;
  const { calls, gas, times } = await newBlockCost(bench, pools);
  const most = Math.max(...gas) / 1e6;
  print(
    `${name}: ${calls} calls (${verdicts.line(figure, calls)}), ` +
      `most expensive ${most.toFixed(1)} M gas (${verdicts.line('gas of a call, M', most)}), ${inMilliseconds(times)}`,
  );
}

export const inMilliseconds = (times: readonly number[]) => times.map((time) => `${Math.round(time)} ms`).join(', ');

export async function newBlockCost(bench: NewBlockBench, pools: readonly Address[]): Promise<NewBlockCost> {
  const { proxy, chain } = bench;
  const times: number[] = [];
  let calls = 0;
  let gas: readonly number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = proxy.requests.length;
    times.push(await batchAtNewBlock(bench, pools));
    const made = proxy.requests.slice(before);
    calls = Math.max(calls, made.length);
    if (round === 0) gas = await callGas(chain.rpcUrl, made);
  }
  return { calls, gas, times };
}

/** Mines a block, asks for a batch and returns its time, milliseconds. */
export async function batchAtNewBlock({ chain, api }: NewBlockBench, pools: readonly Address[]): Promise<number> {
  await chain.client.mine({ blocks: 1 });
  await new Promise((resolve) => setTimeout(resolve, HEAD_MS));
  return timeBatch(api, pools);
}
