import { type Address, encodeFunctionData, type Hex, parseAbi, zeroAddress, zeroHash } from 'viem';
import type { CallResult } from '../protocol/bounded-calls/bounded-calls.ts';
import type { PartView, PendingPart } from './pending-state.ts';
import { RpcFailure } from './rpc-failure.ts';

/** Where fees go: the vaults of chains of the OP Stack for base fees and for tips, and the account of local nodes. */
const FEE_ACCOUNTS: readonly Address[] = [
  '0x4200000000000000000000000000000000000019',
  '0x4200000000000000000000000000000000000011',
  zeroAddress,
];

const abi = parseAbi([
  'function getBlockNumber() view returns (uint256)',
  'function getCurrentBlockTimestamp() view returns (uint256)',
  'function getLastBlockHash() view returns (bytes32)',
  'function getEthBalance(address) view returns (uint256)',
]);

const FEE_CALLS: readonly Hex[] = FEE_ACCOUNTS.map((account) =>
  encodeFunctionData({ abi, functionName: 'getEthBalance', args: [account] }),
);
const CALLS: readonly Hex[] = [
  encodeFunctionData({ abi, functionName: 'getBlockNumber' }),
  encodeFunctionData({ abi, functionName: 'getCurrentBlockTimestamp' }),
  encodeFunctionData({ abi, functionName: 'getLastBlockHash' }),
  ...FEE_CALLS,
];
/** Of one of these calls, with a balance that was not read before. */
const GAS = 10_000;

const callsTo = (multicall3: Address, calls: readonly Hex[]) =>
  calls.map((data) => ({ target: multicall3, data, gas: GAS, likelyGas: GAS, gasLimit: GAS, keptBytes: 32 }));

/** The calls whose results {@link readView} takes. @param multicall3 its own functions show the block */
export const viewCalls = (multicall3: Address) => callsTo(multicall3, CALLS);

/** The calls whose results {@link readFees} takes. @param multicall3 as for {@link viewCalls} */
export const feeCalls = (multicall3: Address) => callsTo(multicall3, FEE_CALLS);

/** @param node its host. @throws RpcFailure `malformed` when the calls did not give it */
export function readView(results: readonly (CallResult | null)[], node: string): PartView {
  const [number, time, parent, ...balances] = results.slice(0, CALLS.length).map((result) => {
    if (!result || !isWord(result))
      throw new RpcFailure('malformed', 'a call at the tag pending does not show its block');
    return result.data;
  });
  const parentHash = parent === undefined || parent === zeroHash ? null : parent;
  return { blockNumber: BigInt(number ?? 0), timestamp: BigInt(time ?? 0), parentHash, feesWei: sumOf(balances), node };
}

/** What the accounts of fees hold, wei; undefined when the calls did not give it. */
export const readFees = (results: readonly CallResult[]): bigint | undefined =>
  results.length > 0 && results.every(isWord) ? sumOf(results.map(({ data }) => data)) : undefined;

const isWord = ({ success, data }: CallResult): boolean => success && data.length === zeroHash.length;
const sumOf = (balances: readonly Hex[]): bigint => balances.reduce((sum, balance) => sum + BigInt(balance), 0n);

export const isSameView = (one: PartView, other: PartView): boolean =>
  one.blockNumber === other.blockNumber &&
  one.timestamp === other.timestamp &&
  one.feesWei === other.feesWei &&
  (one.parentHash === other.parentHash || one.parentHash === null || other.parentHash === null);

/** Whether a part may be of a block above this one: not where it is on another block of this height. */
export const mayBeOn = (
  { blockNumber, parentHash }: PartView,
  { number, hash }: { readonly number: bigint; readonly hash: Hex },
): boolean => blockNumber !== number + 1n || parentHash === null || parentHash === hash;

/** Whether a part surely comes after another one, unless the chain went back or fees were taken out. */
export const isLaterView = (one: PartView, other: PartView): boolean =>
  one.blockNumber === other.blockNumber ? one.feesWei > other.feesWei : one.blockNumber > other.blockNumber;

/** Whether one is of the same part as the other, or of a later part of the same block. */
export const isAtLeast = (one: PartView, other: PartView): boolean =>
  one.feesWei >= other.feesWei && isSameView({ ...one, feesWei: other.feesWei }, other);

/** Says that a call ran on another part than was asked for. */
export class OtherPart extends RpcFailure {
  /** What the call shows. */
  readonly view: PartView;

  constructor(view: PartView) {
    super('moved', 'a call ran on another part of the block that is being built');
    this.view = view;
  }
}

/** @throws OtherPart when results are not of this part; RpcFailure when they show none */
export function checkView({ view, takes }: PendingPart, results: readonly (CallResult | null)[], node: string): void {
  const shown = readView(results, node);
  if (!(takes ? takes(shown) : isSameView(view, shown))) throw new OtherPart(shown);
}
