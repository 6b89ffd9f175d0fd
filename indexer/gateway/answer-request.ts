import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { ChainRpc } from '../../chain/chain-rpc.ts';
import { type NodeError, RpcFailure } from '../../chain/rpc-failure.ts';

/** What Ponder asks. An id of null asks for no answer. */
export const NodeRequest = z.object({
  id: z.number().nullable(),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
});

export type NodeRequest = z.infer<typeof NodeRequest>;
export type NodeAnswer = { readonly result: unknown } | { readonly error: NodeError };

const INTERNAL_ERROR = -32_603;
/** Of an error that Ponder takes as final. */
const NOT_SUPPORTED = -32_004;
/** A node behind a balancer may not have the newest block yet. */
const UNKNOWN_BLOCK_PAUSES_MS = [125, 250, 500];
const UNKNOWN_BLOCK = /unknown block|block.*not.*found|header not found/is;

const BLOCK_METHODS = ['eth_getBlockByNumber', 'eth_getBlockByHash'];
const noSuchBlock = new RpcFailure('refused', 'no node knows the block');
const LogsOfBlock = z.tuple([z.object({ blockHash: z.string() })]);

/**
 * Asks the nodes of a chain what Ponder asks, and answers as a node would: errors of nodes as they are, others without URLs.
 * Logs of a block that no node knows are a final error after a second: as a rule it was reorganised away, and Ponder, which
 * asks ten times, would let the chain wait for a minute.
 */
export async function answerRequest(rpc: ChainRpc, { method, params }: NodeRequest): Promise<NodeAnswer> {
  const isOfBlock = method === 'eth_getLogs' && LogsOfBlock.safeParse(params).success;
  const check = (result: unknown) => {
    if (result === null && BLOCK_METHODS.includes(method)) throw noSuchBlock;
    return result;
  };
  for (let attempt = 0; ; attempt += 1) {
    try {
      return { result: await rpc.request(method, params, check) };
    } catch (error) {
      if (error === noSuchBlock) return { result: null };
      if (!(error instanceof RpcFailure)) throw error;
      const answer = error.answer ?? { code: INTERNAL_ERROR, message: error.message };
      if (!isOfBlock || !UNKNOWN_BLOCK.test(answer.message)) return { error: answer };
      const pauseMs = UNKNOWN_BLOCK_PAUSES_MS[attempt];
      if (pauseMs === undefined) return { error: { ...answer, code: NOT_SUPPORTED } };
      await pause(pauseMs);
    }
  }
}
