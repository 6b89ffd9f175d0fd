import { type Address, type Hex, numberToHex, zeroAddress } from 'viem';
import { z } from 'zod';
import { HexAddress, HexBytes32 } from '../config/scalars.ts';
import { type BoundedCall, encodeBoundedCalls } from '../protocol/bounded-calls/bounded-calls.ts';
import type { ChainRpc } from './chain-rpc.ts';
import { blockParam } from './eth-call.ts';
import type { ReadContext } from './read-context.ts';

/** The storage that calls read: slots by account, in lowercase. */
export type AccessList = ReadonlyMap<Address, ReadonlySet<Hex>>;

const Answer = z
  .object({ accessList: z.array(z.object({ address: HexAddress, storageKeys: z.array(HexBytes32) })) })
  .transform(
    ({ accessList }): AccessList => new Map(accessList.map((each) => [each.address, new Set(each.storageKeys)])),
  );

/** What the program itself takes, besides its calls. */
const PROGRAM_GAS = 500_000;

/**
 * Finds the storage that isolated calls read at a committed block, whether they succeed or not, by
 * `eth_createAccessList`. Runs from the zero address: nodes charge the sender, and this one has ether on public chains.
 *
 * @throws RpcFailure of the last node asked: `refused` also where no node has the method
 */
export function readAccessList(
  rpc: Pick<ChainRpc, 'requestOptional'>,
  { block, signal }: ReadContext,
  calls: readonly BoundedCall[],
): Promise<AccessList> {
  const gas = calls.reduce((sum, { gasLimit }) => sum + gasLimit, PROGRAM_GAS);
  const program = { from: zeroAddress, data: encodeBoundedCalls(calls), gas: numberToHex(gas) };
  return rpc.requestOptional(
    'eth_createAccessList',
    [program, blockParam(block)],
    (answer) => Answer.parse(answer),
    signal,
  );
}
