import { z } from 'zod';
import type { ChainRpc } from '../../chain/chain-rpc.ts';
import type { RpcEndpoint } from '../../chain/rpc-endpoint.ts';
import { isRefusal, type NodeError, RpcFailure } from '../../chain/rpc-failure.ts';
import { pause } from '../../runtime/pause.ts';

/** What Ponder sends. viem keeps a socket alive with requests whose id is null; they need no response. */
export const NodeRequest = z.object({
  id: z.number().nullable(),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
});

/** The call that Ponder makes to a node. */
export type NodeQuestion = Pick<z.infer<typeof NodeRequest>, 'method' | 'params'> & {
  /** Of the block whose logs are asked for by its hash, where it is known. */
  readonly blockNumber?: string | undefined;
};
export type NodeAnswer = { readonly result: unknown } | { readonly error: NodeError };

const INTERNAL_ERROR = -32_603;
/** Code of an error that Ponder does not retry. */
const NOT_SUPPORTED = -32_004;
/** Pauses before the retries: a node behind a load balancer may not have the newest block yet. */
const UNKNOWN_BLOCK_PAUSES_MS = [125, 250, 500];
const UNKNOWN_BLOCK = /unknown block|block.*not.*found|header not found/is;

export const BLOCK_METHODS: readonly string[] = ['eth_getBlockByNumber', 'eth_getBlockByHash'];
const noSuchBlock = new RpcFailure('refused', 'no node knows the block');
/** Limits of a plan: the same request may pass later. */
const RATE_LIMIT = /rate|per second|too many requests|credits|quota|capacity|throughput/i;
/** At this, Ponder halves the range, unless the message names a limit that it understands. */
const TOO_WIDE = 'block range too large';
const LogsOfRange = z.tuple([z.object({ fromBlock: z.string(), toBlock: z.string() })]);
const LogsOfBlock = z.tuple([z.object({ blockHash: z.string() })]);

/** Hash of the block whose logs a question asks for; undefined for any other question. */
export function blockOfLogs({ method, params }: NodeQuestion): string | undefined {
  return method === 'eth_getLogs' ? LogsOfBlock.safeParse(params).data?.[0].blockHash : undefined;
}

function isWideRange({ method, params }: NodeQuestion): boolean {
  const range = method === 'eth_getLogs' ? LogsOfRange.safeParse(params).data?.[0] : undefined;
  return range !== undefined && range.fromBlock !== range.toBlock;
}

/**
 * Forwards a call of Ponder to the nodes of a chain and responds as a node would. An error that a node returned is
 * passed on unchanged. Our own errors contain no URL.
 *
 * When no node knows the block of an `eth_getLogs`, the response after about a second is an error that Ponder does not
 * retry. As a rule, the block was reorganised away. Ponder would retry ten times and stall the chain for a minute.
 *
 * A node that refuses logs of a range is taken to find it too wide, whatever it says: Ponder knows the words of few.
 *
 * @param take gets each result and its node, and may reject it by an RpcFailure: then the next node is asked
 */
export async function answerRequest(
  rpc: ChainRpc,
  question: NodeQuestion,
  take?: (result: unknown, node: RpcEndpoint) => void,
): Promise<NodeAnswer> {
  const { method, params } = question;
  const isOfBlock = blockOfLogs(question) !== undefined;
  const check = (result: unknown, node: RpcEndpoint) => {
    if (result === null && BLOCK_METHODS.includes(method)) throw noSuchBlock;
    take?.(result, node);
    return result;
  };
  for (let attempt = 0; ; attempt += 1) {
    try {
      return { result: await rpc.request(method, params, check) };
    } catch (error) {
      if (error === noSuchBlock) return { result: null };
      if (!(error instanceof RpcFailure)) throw error;
      const answer = error.answer ?? { code: INTERNAL_ERROR, message: error.message };
      if (isRefusal(error) && isWideRange(question) && !RATE_LIMIT.test(answer.message)) {
        return { error: { ...answer, message: `${answer.message} (${TOO_WIDE})` } };
      }
      if (!isOfBlock || !isRefusal(error) || !UNKNOWN_BLOCK.test(answer.message)) return { error: answer };
      const pauseMs = UNKNOWN_BLOCK_PAUSES_MS[attempt];
      if (pauseMs === undefined) return { error: { ...answer, code: NOT_SUPPORTED } };
      await pause(pauseMs);
    }
  }
}
