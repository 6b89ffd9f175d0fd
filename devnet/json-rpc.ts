import { Agent, request as post } from 'undici';
import { createPublicClient, custom, type Hex, type PublicClient, RpcRequestError, type Transport } from 'viem';
import { z } from 'zod';
import { nextTurn } from '../runtime/next-turn.ts';

/** A node refused a request. `data` is there when a call reverted. */
export class RpcError extends Error {
  readonly code = 'RPC';
  override readonly name = 'RpcError';
  readonly data: Hex | undefined;
  /** The node's own code. */
  readonly nodeCode: number;

  constructor(method: string, { message, code, data }: { message: string; code: number; data?: unknown }) {
    super(`${method}: ${message}`);
    this.data = HexData.safeParse(data).data;
    this.nodeCode = code;
  }
}

const Answer = z.object({
  id: z.number().nullish(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string(), code: z.number(), data: z.unknown().optional() }).optional(),
});
type Answer = z.output<typeof Answer>;

const HexData = z.custom<Hex>((value) => typeof value === 'string' && value.startsWith('0x'));

/** A node on this machine answers at once, unless a test has it hang. */
const TIMEOUT_MS = 300_000;
/** Limits of production would cost as much as the request. */
const dispatcher = new Agent({ headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });

/** What comes in one turn is sent as one batch, in which a read costs a tenth. Others may wait for what comes later. */
const READS = new Set([
  'eth_call',
  'eth_getBlockByNumber',
  'eth_getCode',
  'eth_getStorageAt',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'eth_simulateV1',
]);
const MAX_READS = 200;
/** Anvil takes twice as much. */
const MAX_BATCH_LENGTH = 1_000_000;

interface WaitingRead {
  /** Without the opening brace. */
  readonly rest: string;
  readonly answered: PromiseWithResolvers<Answer>;
}

/** By URL. */
const waitingReads = new Map<string, WaitingRead[]>();

/**
 * One JSON-RPC request. Of what viem does for a transaction, a devnet needs nothing: the node holds the keys.
 *
 * @throws RpcError the node's own refusal
 * @throws Error no whole answer
 */
export async function request<T>(rpcUrl: string, method: string, params: readonly unknown[]): Promise<T> {
  const rest = JSON.stringify({ method, params }).slice(1);
  const answer = READS.has(method) ? readLater(rpcUrl, rest) : send(rpcUrl, withId(1, rest)).then(Answer.parse);
  const { result, error } = await answer;
  if (error === undefined) return result as T;
  throw new RpcError(method, error);
}

const withId = (id: number, rest: string): string => `{"jsonrpc":"2.0","id":${id},${rest}`;

const send = async (rpcUrl: string, body: string): Promise<unknown> => JSON.parse((await postJson(rpcUrl, body)).text);

/** Sends a text to a node, and reads the whole response. */
export async function postJson(url: string, body: string): Promise<{ readonly status: number; readonly text: string }> {
  const headers = { 'content-type': 'application/json' };
  const response = await post(url, { method: 'POST', headers, body, dispatcher });
  return { status: response.statusCode, text: await response.body.text() };
}

function readLater(rpcUrl: string, rest: string): Promise<Answer> {
  const answered = Promise.withResolvers<Answer>();
  const waiting = waitingReads.get(rpcUrl) ?? [];
  waiting.push({ rest, answered });
  waitingReads.set(rpcUrl, waiting);
  if (waiting.length === 1) void nextTurn().then(() => sendReads(rpcUrl));
  return answered.promise;
}

function sendReads(rpcUrl: string): void {
  let batch: WaitingRead[] = [];
  let length = 0;
  for (const read of waitingReads.get(rpcUrl) ?? []) {
    if (batch.length === MAX_READS || length + read.rest.length > MAX_BATCH_LENGTH) {
      void sendBatch(rpcUrl, batch);
      [batch, length] = [[], 0];
    }
    batch.push(read);
    length += read.rest.length;
  }
  waitingReads.delete(rpcUrl);
  void sendBatch(rpcUrl, batch);
}

async function sendBatch(rpcUrl: string, batch: readonly WaitingRead[]): Promise<void> {
  const requests = batch.map(({ rest }, id) => withId(id, rest));
  try {
    const sent = await send(rpcUrl, batch.length === 1 ? requests.join() : `[${requests}]`);
    if (batch.length === 1) return batch[0]?.answered.resolve(Answer.parse(sent));
    const answers = new Map(
      z
        .array(Answer)
        .parse(sent)
        .map((answer) => [answer.id, answer]),
    );
    for (const [id, { answered }] of batch.entries()) {
      const answer = answers.get(id);
      if (answer === undefined) answered.reject(new Error(`${rpcUrl} left a request of a batch out`));
      else answered.resolve(answer);
    }
  } catch (error) {
    for (const { answered } of batch) answered.reject(error);
  }
}

/** viem's own HTTP transport takes a quarter of the CPU time of a test run: `fetch` costs five times as much. */
export function nodeTransport(url: string): Transport {
  return custom({
    async request({ method, params = [] }: { method: string; params?: readonly unknown[] }) {
      try {
        return await request(url, method, params);
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        const { nodeCode: code, message, data } = error;
        throw new RpcRequestError({ body: { method }, error: { code, message, data }, url });
      }
    },
  });
}

/** Reads a node, and never answers with a block number that it read before. */
export function connectNode(url: string): PublicClient {
  return createPublicClient({ transport: nodeTransport(url), cacheTime: 0 });
}
