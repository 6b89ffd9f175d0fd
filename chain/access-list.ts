import { type Address, type Hex, numberToHex, zeroAddress } from 'viem';
import { z } from 'zod';
import { HexAddress, HexBytes32 } from '../config/scalars.ts';
import { type BoundedCall, encodeBoundedCalls } from '../protocol/bounded-calls/bounded-calls.ts';
import type { ChainRpc } from './chain-rpc.ts';
import { blockParam } from './eth-call.ts';
import { blockOverrides, type PendingState, stateDiffs } from './pending-state.ts';
import type { ReadContext } from './read-context.ts';

/** The storage that calls read: slots by account, in lowercase. */
export type AccessList = ReadonlyMap<Address, ReadonlySet<Hex>>;

const Answer = z
  .object({ accessList: z.array(z.object({ address: HexAddress, storageKeys: z.array(HexBytes32) })) })
  .transform(
    ({ accessList }): AccessList => new Map(accessList.map((each) => [each.address, new Set(each.storageKeys)])),
  );

/** What `prestateTracer` answers: all accounts that a call looks at, with the slots that it reads. */
const Prestate = z.record(HexAddress, z.object({ storage: z.record(HexBytes32, HexBytes32).default({}) }));

/**
 * @throws Error when it shows no override that the call read, or another word in its place: the node ignores overrides
 */
function readPrestate(answer: unknown, { overrides }: PendingState): AccessList {
  let isApplied = false;
  const lists = Object.entries(Prestate.parse(answer)).map(([key, { storage }]) => {
    const [address, words] = [key as Address, Object.entries(storage) as [Hex, Hex][]];
    for (const [slot, word] of words) {
      const override = overrides.get(address)?.get(slot);
      if (override !== undefined && override !== word) throw new TypeError('the trace ignores state overrides');
      isApplied ||= override !== undefined;
    }
    return [address, new Set(words.map(([slot]) => slot))] as const;
  });
  if (!isApplied) throw new TypeError('the trace shows no state override');
  return new Map(lists.filter(([, slots]) => slots.size > 0));
}

/** What the program itself takes, besides its calls. */
const PROGRAM_GAS = 500_000;

/**
 * Finds the storage that isolated calls read, whether they succeed or not: at a committed block by
 * `eth_createAccessList`, in a block that is being built by `debug_traceCall`, which applies overrides at more nodes.
 * Runs from the zero address: nodes charge the sender, and this one has ether on public chains.
 *
 * @throws RpcFailure of the last node asked: `refused` also where no node has the method, `malformed` where overrides
 * are ignored, or the calls read none
 */
export function readAccessList(
  rpc: Pick<ChainRpc, 'requestOptional'>,
  { block, signal }: ReadContext,
  calls: readonly BoundedCall[],
): Promise<AccessList> {
  const gas = calls.reduce((sum, { gasLimit }) => sum + gasLimit, PROGRAM_GAS);
  const program = { from: zeroAddress, data: encodeBoundedCalls(calls), gas: numberToHex(gas) };
  const at = blockParam(block);
  const { pending } = block;
  return pending
    ? rpc.requestOptional(
        'debug_traceCall',
        [program, at, tracerIn(pending)],
        (read) => readPrestate(read, pending),
        signal,
      )
    : rpc.requestOptional('eth_createAccessList', [program, at], (answer) => Answer.parse(answer), signal);
}

const tracerIn = (pending: PendingState) => ({
  tracer: 'prestateTracer',
  tracerConfig: { disableCode: true },
  stateOverrides: stateDiffs(pending.overrides),
  blockOverrides: blockOverrides(pending),
});
