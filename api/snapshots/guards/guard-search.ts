import {
  concatHex,
  decodeAbiParameters,
  encodeDeployData,
  type Hex,
  numberToHex,
  parseAbi,
  parseAbiParameters,
  toFunctionSelector,
} from 'viem';
import { CALLER } from '../../../protocol/bounded-calls/bounded-calls.ts';
import { runCreationCode } from '../rpc/creation-code.ts';
import type { MulticallTarget } from '../rpc/multicall.ts';
import { RpcFailure } from '../rpc/rpc-failure.ts';
import type { BlockRef } from '../types.ts';
import { GUARD_SEARCH_CODE } from './guard-search-code.ts';
import type { Found, SideJob } from './side-job.ts';

const searchAbi = parseAbi([
  'struct Found { uint256 low; uint256 high; bool done; bool burned; }',
  'struct Job { address pool; bytes probe; uint256 amountOffset; bytes edges; uint256 gas; uint256 gasLimit; Found known; }',
  'constructor(bytes4 simulated, Job[] jobs)',
]);
const answerParameters = parseAbiParameters([
  'struct Found { uint256 low; uint256 high; bool done; bool burned; }',
  'uint256 chainId, Found[] found',
]);

const SIMULATED = toFunctionSelector('SimulateSwap(int256,int256)');
const UNASKED = (1n << 256n) - 1n;

/** A search to begin or to go on with. */
export interface SearchTask {
  readonly job: SideJob;
  readonly known: Found;
}

/** Gas below which no simulation of the side is begun: more than any guard that we know takes. */
const NEEDED_GAS = { base: 250_000, perBin: 65_000 };
/** Gas with which a simulation counts as refused: several times as much, and less than a block would take. */
const GAS_LIMIT = { base: 3_000_000, perBin: 130_000, most: 15_000_000 };

/**
 * Runs searches in one `eth_call`, as far as its gas goes.
 *
 * @returns what is known now, in the order of the tasks
 * @throws RpcFailure
 */
export async function runGuardSearch(
  target: MulticallTarget,
  block: BlockRef,
  tasks: readonly SearchTask[],
  signal?: AbortSignal,
): Promise<readonly Found[]> {
  const data = encodeDeployData({ abi: searchAbi, bytecode: GUARD_SEARCH_CODE, args: [SIMULATED, tasks.map(toJob)] });
  const { found } = await runCreationCode(target, block, data, (result) => decodeAnswer(result, tasks.length), signal);
  return found;
}

/** Bytes of creation code that a task adds, about. */
export const taskBytes = ({ job: { bins } }: SearchTask): number => 960 + bins.length * 16;

function toJob({ job, known }: SearchTask) {
  return {
    pool: job.pool,
    ...probeOf(job),
    edges: concatHex(job.bins.map(({ inputAfter }) => numberToHex(inputAfter, { size: 16 }))),
    gas: BigInt(NEEDED_GAS.base + job.bins.length * NEEDED_GAS.perBin),
    gasLimit: BigInt(Math.min(GAS_LIMIT.base + job.bins.length * GAS_LIMIT.perBin, GAS_LIMIT.most)),
    known: { ...known, low: BigInt(known.low), high: known.high === null ? UNASKED : BigInt(known.high) },
  };
}

/** Calldata of a simulation, and the byte at which its amount stands: where two amounts make a difference. */
function probeOf({ curve: { duty, quote }, side: { zeroForOne } }: SideJob): { probe: Hex; amountOffset: bigint } {
  const encode = (amountSpecified: bigint) => duty.encodeSimulation({ zeroForOne, amountSpecified }, quote, CALLER);
  const probe = encode(1n);
  const other = encode(2n);
  const lastDigit = [...probe].findIndex((digit, index) => digit !== other[index]);
  return { probe, amountOffset: BigInt((lastDigit - 1) / 2 - 32) };
}

function decodeAnswer(result: Hex, count: number): { chainId: bigint; found: readonly Found[] } {
  const [chainId, found] = decodeAbiParameters(answerParameters, result);
  if (found.length !== count) throw new RpcFailure('garbage', 'a search gave too few results');
  return { chainId, found: found.map(toFound) };
}

function toFound({ low, high, ...rest }: { low: bigint; high: bigint; done: boolean; burned: boolean }): Found {
  return { ...rest, low: Number(low), high: high === UNASKED ? null : Number(high) };
}
