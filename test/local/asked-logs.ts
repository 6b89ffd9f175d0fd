import { expect } from 'vitest';
import { request } from '../../devnet/json-rpc.ts';
import type { RpcProxy } from '../../devnet/rpc-proxy.ts';

/** Of a chain whose finality is not known by its id. */
const FINALITY_BLOCKS = 30;

/** A service that is about to start. */
export interface Start {
  /** How far the index may have come. */
  readonly final: number;
  /** What was asked until now. */
  readonly asked: number;
}

/** @param node of the service */
export async function beforeStart(node: RpcProxy): Promise<Start> {
  const head = Number(await request(node.url, 'eth_blockNumber', []));
  return { final: head - FINALITY_BLOCKS, asked: node.requests.length };
}

/** Expects that after another start no process requests logs of blocks that were final at the first start. */
export function expectNoneAgain(node: RpcProxy, { final, ...before }: Start, { asked }: Start): void {
  expect(logRanges(node, before.asked).some(([from]) => from < final)).toBe(true);
  expect(logRanges(node, asked).filter(([from]) => from <= final)).toEqual([]);
}

/** Ranges of blocks of which logs were asked; a request that names a block by its hash does not count. */
const logRanges = ({ requests }: RpcProxy, since: number) =>
  requests
    .slice(since)
    .filter(({ method }) => method === 'eth_getLogs')
    .map(({ params }) => params[0] as { readonly fromBlock?: string; readonly toBlock?: string })
    .flatMap(({ fromBlock, toBlock }) => (fromBlock ? [[Number(fromBlock), Number(toBlock)] as const] : []));
