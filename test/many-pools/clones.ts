import { gunzipSync, gzipSync } from 'node:zlib';
import type { Address, Hex } from 'viem';
import { z } from 'zod';
import { request } from '../../devnet/json-rpc.ts';

const NodeState = z.object({
  accounts: z.record(z.string(), z.object({ storage: z.record(z.string(), z.string()) })),
});

/** Accounts that one request brings. */
const ACCOUNTS_AT_ONCE = 5_000;

/** Code that runs another contract's code on its own storage: a minimal proxy (EIP-1167). */
const forwarderTo = (contract: Address): Hex =>
  `0x363d3d373d3d3d363d73${contract.slice(2)}5af43d82803e903d91602b57fd5bf3`;

/**
 * Puts copies of a contract at other addresses: its storage, and code that forwards to it. Thousands a second, and the
 * node holds the code once. They are there from the next block.
 */
export async function putClones(rpcUrl: string, contract: Address, addresses: readonly Address[]): Promise<void> {
  const account = {
    nonce: 1,
    balance: '0x0',
    code: forwarderTo(contract),
    storage: await storageOf(rpcUrl, contract),
  };
  for (let start = 0; start < addresses.length; start += ACCOUNTS_AT_ONCE) {
    const accounts = Object.fromEntries(
      addresses.slice(start, start + ACCOUNTS_AT_ONCE).map((address) => [address, account]),
    );
    const state = { accounts, block: null, best_block_number: null, blocks: [], transactions: [] };
    await request(rpcUrl, 'anvil_loadState', [`0x${gzipSync(JSON.stringify(state)).toString('hex')}`]);
  }
}

async function storageOf(rpcUrl: string, contract: Address): Promise<Readonly<Record<string, string>>> {
  const state = await request<Hex>(rpcUrl, 'anvil_dumpState', []);
  const { accounts } = NodeState.parse(JSON.parse(gunzipSync(Buffer.from(state.slice(2), 'hex')).toString()));
  const found = Object.entries(accounts).find(([address]) => address.toLowerCase() === contract);
  if (!found) throw new Error(`the node has no contract ${contract}`);
  return found[1].storage;
}
