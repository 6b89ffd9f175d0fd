import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Address,
  createTestClient,
  formatTransactionReceipt,
  type Hex,
  numberToHex,
  type PublicClient,
  publicActions,
  type RpcTransactionReceipt,
  type TestClient,
  type TransactionReceipt,
} from 'viem';
import { nodeTransport, RpcError, request } from './json-rpc.ts';

/** A call or creation that changes the chain, from an account that the node unlocks. */
export interface Transaction {
  readonly from: Address;
  /** Absent: `data` is creation code with its arguments. */
  readonly to?: Address;
  readonly data: Hex;
  readonly gas?: bigint;
}

/** Who does what on a devnet: the node's default accounts, in order. */
export interface Roles {
  /** Deploys the protocol, owns it, and posts the feeds. */
  readonly owner: Address;
  /** Creates pools and curates them. */
  readonly curator: Address;
  /** A second curator, to whom a pool is handed over. */
  readonly otherCurator: Address;
  readonly provider: Address;
  readonly trader: Address;
  readonly untrusted: Address;
  readonly feeDestination: Address;
  /** Acts in traffic, so that its nonces are its own. */
  readonly trafficTrader: Address;
  readonly trafficProvider: Address;
  /** Swaps in the demo through its builder. */
  readonly taker: Address;
}

export interface DevChain {
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly client: TestClient & PublicClient;
  readonly roles: Roles;
}

/** A transaction was mined but reverted. `data` is the revert data of the same call repeated. */
export class RevertedError extends Error {
  readonly code = 'REVERTED';
  override readonly name = 'RevertedError';
  readonly data: Hex;

  constructor(data: Hex) {
    super(`transaction reverted with ${data.slice(0, 74)}`);
    this.data = data;
  }
}

/** Enough for every call of the devnet, below what one transaction may use. */
const DEFAULT_GAS = 5_000_000n;
const FIRST_RECEIPT_POLL_MS = 2;
const MAX_RECEIPT_POLL_MS = 50;
const RECEIPT_TIMEOUT_MS = 60_000;

/** Connects to an anvil node. */
export async function connectDevChain(rpcUrl: string): Promise<DevChain> {
  const client = createTestClient({ mode: 'anvil', transport: nodeTransport(rpcUrl), cacheTime: 0 }).extend(
    publicActions,
  );
  const [chainId, accounts] = await Promise.all([client.getChainId(), request<Address[]>(rpcUrl, 'eth_accounts', [])]);
  const account = (index: number): Address => {
    const address = accounts[index];
    if (address === undefined) throw new Error(`${rpcUrl} has no unlocked account ${index}`);
    return address;
  };
  const roles: Roles = {
    owner: account(0),
    curator: account(1),
    otherCurator: account(2),
    provider: account(3),
    trader: account(4),
    untrusted: account(5),
    feeDestination: account(6),
    trafficTrader: account(7),
    trafficProvider: account(8),
    taker: account(9),
  };
  return { chainId, rpcUrl, client: client as TestClient & PublicClient, roles };
}

/**
 * Sends a transaction and waits until it is mined.
 *
 * @throws RevertedError when it reverted
 */
export async function send(chain: DevChain, transaction: Transaction): Promise<TransactionReceipt> {
  const receipt = formatTransactionReceipt(await inTurn(chain, transaction, 'eth_sendTransactionSync'));
  if (receipt.status === 'success') return receipt;
  throw new RevertedError(await revertDataOf(chain, transaction));
}

/** The last submission of each account of each node. */
const submissions = new Map<string, Promise<unknown>>();

/** Sends a transaction and returns its hash without waiting until it is mined. */
export function submit(chain: DevChain, transaction: Transaction): Promise<Hex> {
  return inTurn(chain, transaction, 'eth_sendTransaction');
}

interface Answers {
  readonly eth_sendTransaction: Hex;
  /** Comes when the transaction is mined. */
  readonly eth_sendTransactionSync: RpcTransactionReceipt;
}

function inTurn<M extends keyof Answers>(
  chain: DevChain,
  { gas = DEFAULT_GAS, ...rest }: Transaction,
  method: M,
): Promise<Answers[M]> {
  // The node would estimate the gas by running the call several times: say it.
  const send = () => request<Answers[M]>(chain.rpcUrl, method, [{ ...rest, gas: numberToHex(gas) }]);
  // One at a time for each account: the node may give two that arrive together the same nonce, and refuses one.
  const account = `${chain.rpcUrl} ${rest.from.toLowerCase()}`;
  const submission = (submissions.get(account) ?? Promise.resolve()).then(send, send);
  submissions.set(account, submission);
  return submission;
}

/** Waits for a transaction's receipt. */
export async function mined(chain: DevChain, hash: Hex): Promise<TransactionReceipt> {
  const deadline = Date.now() + RECEIPT_TIMEOUT_MS;
  // A node that mines at once has the receipt within milliseconds: viem's own wait would begin with a poll interval.
  for (let pause = FIRST_RECEIPT_POLL_MS; Date.now() < deadline; pause *= 2) {
    const receipt = await findReceipt(chain, hash);
    if (receipt !== undefined) return receipt;
    await sleep(Math.min(pause, MAX_RECEIPT_POLL_MS));
  }
  throw new Error(`transaction ${hash} was not mined within ${RECEIPT_TIMEOUT_MS / 1000} s`);
}

/** A receipt, or undefined while the transaction is not mined. */
export async function findReceipt(chain: DevChain, hash: Hex): Promise<TransactionReceipt | undefined> {
  try {
    return await chain.client.getTransactionReceipt({ hash });
  } catch (error) {
    if (error instanceof Error && error.name === 'TransactionReceiptNotFoundError') return undefined;
    throw error;
  }
}

async function revertDataOf(chain: DevChain, { gas: _, ...call }: Transaction): Promise<Hex> {
  const outcome = await staticCall(chain, call);
  return outcome.reverted ? outcome.data : '0x';
}

/** Result or revert data of an `eth_call` at the latest block. */
export async function staticCall(
  chain: DevChain,
  call: { readonly from?: Address; readonly to?: Address; readonly data: Hex },
): Promise<{ readonly reverted: boolean; readonly data: Hex }> {
  try {
    return { reverted: false, data: await request<Hex>(chain.rpcUrl, 'eth_call', [call, 'latest']) };
  } catch (error) {
    if (error instanceof RpcError && error.data !== undefined) return { reverted: true, data: error.data };
    throw error;
  }
}

/**
 * Runs something and takes back all that it did to the chain. With every contract that a node holds its blocks take
 * longer, since it computes the root of all state.
 */
export async function takenBack<T>(chain: DevChain, run: () => Promise<T>): Promise<T> {
  const id = await chain.client.snapshot();
  try {
    return await run();
  } finally {
    await emptyPool(chain);
    await chain.client.revert({ id });
  }
}

/**
 * Waits until nothing waits to be mined. Some time after a receipt the node drops what waits with that nonce: before a
 * block is taken back, the next transaction must not be there yet, and until then the pool counts the old one.
 */
export async function emptyPool({ client }: DevChain): Promise<void> {
  const deadline = Date.now() + RECEIPT_TIMEOUT_MS;
  for (;;) {
    const { pending, queued } = await client.getTxpoolStatus();
    if (pending + queued === 0) return;
    if (Date.now() > deadline) throw new Error(`${pending + queued} transactions wait and are not mined`);
  }
}

/** Mines what `submitted` sends, and nothing of before, in one block. It must not wait for that block. */
export async function minedTogether<T>(chain: DevChain, submitted: () => Promise<T>): Promise<T> {
  await chain.client.setAutomine(false);
  try {
    await emptyPool(chain);
    const result = await submitted();
    await chain.client.mine({ blocks: 1 });
    return result;
  } finally {
    await chain.client.setAutomine(true);
  }
}

/** Mines at once (0) or at this interval, seconds. */
export async function setBlockTime(chain: DevChain, seconds: number): Promise<void> {
  if (seconds === 0) await chain.client.setAutomine(true);
  else await chain.client.setIntervalMining({ interval: seconds });
}
