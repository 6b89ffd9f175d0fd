import {
  concatHex,
  decodeDeployData,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  hexToBigInt,
  numberToHex,
  parseAbi,
  parseAbiParameters,
  size,
  sliceHex,
  zeroAddress,
} from 'viem';
import { ChainRpc } from '../../chain/chain-rpc.ts';
import type { ChainTarget } from '../../chain/isolated-calls.ts';
import { viewCalls } from '../../chain/part-view.ts';
import type { PartView } from '../../chain/pending-state.ts';
import { RpcEndpoint } from '../../chain/rpc-endpoint.ts';
import type { CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import { BOUNDED_CALLS_CODE } from '../../protocol/bounded-calls/bounded-calls-code.ts';
import { isRejection } from '../../protocol/curve.ts';
import { flatPoolFunctions } from '../../protocol/layouts/flat/pool-abi.ts';
import { swapOutcome } from '../../protocol/pool-errors.ts';
import { SIMULATED_WALK_CODE } from '../../protocol/simulated-walk/simulated-walk-code.ts';

/** What a flat pool answers to a simulated swap, raw units: positive = exact input, negative = exact output. */
export type SimulateSwap = (zeroForOne: boolean, amount: bigint) => CallResult;

const BOUNDED_CALLS = parseAbi(['constructor(uint256 answerBytes, bytes calls)']);
const SIMULATED_WALK = parseAbi([
  'struct Walk { address pool; bytes warming; uint256 warmingGas; bytes simulation; uint256 amountOffset; bytes points; uint256 halvings; }',
  'constructor(Walk walk)',
]);
const PRICES = encodeFunctionData({ abi: flatPoolFunctions, functionName: 'getSellAndBuyPrices' });
const ANSWERED = [1n, 1n, 1n] as const;
const CALL_HEADER = { bytes: 27, kept: 24, length: 25 };
const POINT = { bytes: 20, amount: 16 };
const REVERTED = 1;
const SUCCEEDED = 2;
/** A selector and two words. */
const FILL_BYTES = 68;

/**
 * A chain of one node, which runs programs as `BoundedCalls.sol` and `SimulatedWalk.sol` do. Gas never runs out.
 *
 * @param viewOf what the node shows of the block being built in its next call; asked once a program
 */
export function modelChain(simulate: SimulateSwap, viewOf?: () => PartView): ChainTarget {
  return { chainId: 1, rpc: new ChainRpc([new ModelNode(simulate, viewOf)]) };
}

class ModelNode extends RpcEndpoint {
  readonly #simulate: SimulateSwap;
  readonly #viewOf: (() => PartView) | undefined;

  constructor(simulate: SimulateSwap, viewOf: (() => PartView) | undefined) {
    super('http://model', { timeoutMs: 1_000, count: () => undefined });
    this.#simulate = simulate;
    this.#viewOf = viewOf;
  }

  override async request(_method: string, [call]: readonly unknown[]): Promise<Hex> {
    const { data } = call as { data: Hex };
    const view = this.#viewOf?.();
    const isCalls = data.startsWith(BOUNDED_CALLS_CODE);
    return isCalls ? runCalls(data, this.#simulate, view) : runWalk(data, this.#simulate);
  }
}

function runCalls(data: Hex, simulate: SimulateSwap, view: PartView | undefined): Hex {
  const { args } = decodeDeployData({ abi: BOUNDED_CALLS, bytecode: BOUNDED_CALLS_CODE, data });
  const [, calls] = args as readonly [bigint, Hex];
  const results: Hex[] = [];
  for (let offset = 0; offset < size(calls); ) {
    const [kept, length] = [
      numberAt(calls, offset + CALL_HEADER.kept, 1),
      numberAt(calls, offset + CALL_HEADER.length, 2),
    ];
    offset += CALL_HEADER.bytes;
    const call = sliceHex(calls, offset, offset + length);
    const shown = call === PRICES ? '0x' : view && shownBy(view, call);
    const result = shown ?? simulated(call, simulate);
    const bytes = Math.min(size(result), kept);
    const status = hexByte(shown ? SUCCEEDED : REVERTED);
    results.push(concatHex([numberToHex(1, { size: 2 }), status, hexByte(bytes), sliceHex(result, 0, bytes)]));
    offset += length;
  }
  return encodeAbiParameters(parseAbiParameters('uint256, uint256, uint256, bytes'), [...ANSWERED, concatHex(results)]);
}

function simulated(call: Hex, simulate: SimulateSwap): Hex {
  const { zeroForOne, amount } = swapOf(call);
  return simulate(zeroForOne, amount).data;
}

/** What the contract returns that shows the block; undefined for another call. */
function shownBy({ blockNumber, timestamp, parentHash, feesWei }: PartView, call: Hex): Hex | undefined {
  const words = [blockNumber, timestamp, hexToBigInt(parentHash ?? '0x0'), feesWei, 0n, 0n];
  const word = words[viewCalls(zeroAddress).findIndex(({ data }) => data === call)];
  return word === undefined ? undefined : numberToHex(word, { size: 32 });
}

function runWalk(data: Hex, simulate: SimulateSwap): Hex {
  const { args } = decodeDeployData({ abi: SIMULATED_WALK, bytecode: SIMULATED_WALK_CODE, data });
  const [walk] = args as readonly [{ simulation: Hex; points: Hex; halvings: bigint }];
  const { zeroForOne } = swapOf(walk.simulation);
  const records: Hex[] = [];
  const isRefused = (amount: bigint): boolean => {
    const result = simulate(zeroForOne, amount);
    const kept = size(result.data) === FILL_BYTES ? fillOf(result.data) : sliceHex(result.data, 0, 4);
    records.push(concatHex([numberToHex(amount, { size: POINT.amount, signed: true }), hexByte(size(kept)), kept]));
    return isRejection(swapOutcome(result));
  };
  let low = 0n;
  for (let offset = 0; offset < size(walk.points); offset += POINT.bytes) {
    let high = signedAt(walk.points, offset, POINT.amount);
    if (!isRefused(high)) {
      low = high;
      continue;
    }
    for (let left = walk.halvings; left > 0n; left--) {
      const middle = low + (high - low) / 2n;
      if (middle === low) break;
      if (isRefused(middle)) high = middle;
      else low = middle;
    }
    break;
  }
  const answer = [...ANSWERED, true, concatHex(records)] as const;
  return encodeAbiParameters(parseAbiParameters('uint256, uint256, uint256, bool, bytes'), answer);
}

function swapOf(data: Hex): { zeroForOne: boolean; amount: bigint } {
  const { functionName, args } = decodeFunctionData({ abi: flatPoolFunctions, data });
  if (functionName !== 'simulateSwapAndRevert') throw new TypeError('not a simulated swap');
  return { zeroForOne: args[1], amount: args[2] };
}

/** Both amounts as int128, as a walk records a fill. */
const fillOf = (result: Hex): Hex => concatHex([sliceHex(result, 20, 36), sliceHex(result, 52, 68)]);

const hexByte = (value: number): Hex => numberToHex(value, { size: 1 });

const numberAt = (data: Hex, offset: number, bytes: number): number => Number(sliceHex(data, offset, offset + bytes));

const signedAt = (data: Hex, offset: number, bytes: number): bigint =>
  hexToBigInt(sliceHex(data, offset, offset + bytes), { signed: true });
