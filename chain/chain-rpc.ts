import { type Address, type Hex, numberToHex } from 'viem';
import { z } from 'zod';
import type { CountChainCall } from '../runtime/chain-calls.ts';
import { ableNodes } from './able-nodes.ts';
import { type CheckedRequest, requestChecked, throughBreaker } from './checked-request.ts';
import { blockParam, callParams, type EthCall, extraNeed, reserveCall } from './eth-call.ts';
import { allPaused, firstGood, type NodeOutage } from './first-good.ts';
import type { Ability } from './node-abilities.ts';
import { type ChainLog, HexData, LogAnswer, readBlock } from './node-answers.ts';
import { requestHead, requestOwnHead } from './own-head.ts';
import type { BlockHeader, CallContext } from './read-context.ts';
import { RpcEndpoint, type RpcEndpointOptions } from './rpc-endpoint.ts';
import { RpcFailure } from './rpc-failure.ts';

interface ChainNodes extends Pick<RpcEndpointOptions, 'isLast'> {
  readonly chainId: number;
  readonly rpcUrls: readonly string[];
}

/** A head and the node that reported it; the node is null when a socket pushed the head. */
export interface ReportedHead {
  readonly block: BlockHeader;
  readonly endpoint: RpcEndpoint | null;
}

/**
 * Calls the nodes of one chain, in order, until one gives a usable answer. It skips a node while its breaker is open,
 * or while it is known to lack what the call needs.
 * viem's `fallback` transport tries the next node only when a request throws; this does so also when the answer does
 * not decode, comes from another chain or fails the caller's check.
 */
export class ChainRpc {
  readonly endpoints: readonly RpcEndpoint[];
  readonly #outage: NodeOutage | undefined;
  readonly #chainId: number | undefined;

  /**
   * @param outage notes calls that a node answered, and calls that no node did
   * @param chainId of the chain that heads are to be of. Default: any
   */
  constructor(endpoints: readonly RpcEndpoint[], outage?: NodeOutage, chainId?: number) {
    this.endpoints = endpoints;
    this.#outage = outage;
    this.#chainId = chainId;
  }

  /**
   * Calls any method.
   *
   * @param check reads the result; when it throws, the node's answer counts as malformed,
   * unless it throws an `RpcFailure`
   * @throws RpcFailure of the last node that refused, or of the last one asked when none did
   */
  async request<T>(
    method: string,
    params: readonly unknown[],
    check: CheckedRequest<T>['check'],
    signal?: AbortSignal,
  ): Promise<T> {
    return this.ask({ method, params, check, signal });
  }

  /** @throws RpcFailure as of {@link request} */
  protected async ask<T>(request: CheckedRequest<T>): Promise<T> {
    const attempt = (endpoint: RpcEndpoint) => requestChecked(endpoint, request);
    return firstGood(ableNodes(this.endpoints, request), attempt, { signal: request.signal, outage: this.#outage });
  }

  /**
   * Calls a method that nodes, or proxies in front of them, may not have. A failure says nothing of a node: it opens no
   * breaker and counts as no outage.
   *
   * @param check as in {@link request}
   * @throws RpcFailure of the last node asked; MissingAbility when every node is known to lack the method
   */
  async requestOptional<T>(
    method: string,
    params: readonly unknown[],
    check: (result: unknown) => T,
    signal?: AbortSignal,
  ): Promise<T> {
    let last = allPaused();
    for (const endpoint of ableNodes(this.endpoints, { method, params }).endpoints) {
      if (endpoint.breaker.isOpen) continue;
      try {
        return await requestChecked(endpoint, { method, params, check, signal });
      } catch (error) {
        if (!(error instanceof RpcFailure)) throw error;
        last = error;
      }
    }
    throw last;
  }

  /** @throws RpcFailure as of {@link request} */
  async head(signal?: AbortSignal): Promise<ReportedHead> {
    const attempt = (endpoint: RpcEndpoint) => this.#requestHead(endpoint, signal);
    return firstGood({ endpoints: this.endpoints }, attempt, { signal, outage: this.#outage });
  }

  /**
   * Time of a block, Unix seconds.
   *
   * @throws RpcFailure as of {@link request}
   */
  async timestampOf(blockNumber: number, signal?: AbortSignal): Promise<number> {
    return Number((await this.blockAt(BigInt(blockNumber), signal)).timestamp);
  }

  /** @throws RpcFailure as of {@link request} */
  async blockAt(number: bigint, signal?: AbortSignal): Promise<BlockHeader> {
    return this.request('eth_getBlockByNumber', [numberToHex(number), false], readBlock, signal);
  }

  /**
   * The block with this hash, which is known to be at this height.
   *
   * @throws RpcFailure as of {@link request}; `refused` while no node has it
   */
  async header(hash: Hex, number: bigint, signal?: AbortSignal): Promise<BlockHeader> {
    const readHeader = (result: unknown): BlockHeader => {
      if (result === null) throw new RpcFailure('refused', `no node has block ${hash} yet`);
      const block = readBlock(result);
      if (block.hash !== hash || block.number !== number) throw new TypeError('another block than was asked for');
      return block;
    };
    return this.request('eth_getBlockByHash', [hash, false], readHeader, signal);
  }

  /**
   * All logs of some contracts in a range of blocks, both ends included.
   *
   * @throws RpcFailure as of {@link request}
   */
  async logs(addresses: readonly Address[], fromBlock: bigint, toBlock: bigint): Promise<readonly ChainLog[]> {
    const filter = { address: addresses, fromBlock: numberToHex(fromBlock), toBlock: numberToHex(toBlock) };
    return this.request('eth_getLogs', [filter], (result) => z.array(LogAnswer).parse(result));
  }

  /** The heads of all nodes that answer but the one that reported a head; empty when no other node does. */
  async otherHeads(head: ReportedHead, signal?: AbortSignal): Promise<ReportedHead[]> {
    const others = this.endpoints.filter((endpoint) => endpoint !== head.endpoint);
    const requests = others.map((endpoint) => throughBreaker(endpoint, () => this.#requestHead(endpoint, signal)));
    const answers = await Promise.allSettled(requests);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  }

  /**
   * Makes an `eth_call`, as a rule at a block named by its hash: so every call of a snapshot sees one state, whichever
   * node answers.
   *
   * @param check decodes the result, as in {@link request}
   * @throws RpcFailure as of {@link request}; MissingAbility when no node that works applies the overrides of the call
   */
  async call<T>(call: EthCall, check: (result: Hex, node: RpcEndpoint) => T): Promise<T> {
    const request = { method: 'eth_call', params: callParams(call), extra: extraNeed(call) };
    ableNodes(this.endpoints, request);
    reserveCall(call);
    const checkText: CheckedRequest<T>['check'] = (result, node) => check(HexData.parse(result), node);
    return this.ask({ ...request, check: checkText, signal: call.signal });
  }

  /**
   * The code of an account at a block.
   *
   * @throws RpcFailure as of {@link request}
   */
  async code(address: Address, at: CallContext): Promise<Hex> {
    reserveCall(at);
    const params = [address, blockParam(at.block)];
    return this.request('eth_getCode', params, (result) => HexData.parse(result), at.signal);
  }

  /** Whether to try calls that need an ability: false while every node is known to lack it. */
  mayHave(ability: Ability): boolean {
    return this.endpoints.some((endpoint) => !endpoint.isLacking({ ability }));
  }

  async #requestHead(endpoint: RpcEndpoint, signal: AbortSignal | undefined): Promise<ReportedHead> {
    const chainId = this.#chainId;
    const head = chainId === undefined ? requestHead(endpoint, signal) : requestOwnHead(endpoint, chainId, signal);
    return { block: await head, endpoint };
  }
}

/**
 * @param nodes `isLast`: whether the node of a host is asked after others
 * @param timeoutMs longest wait for one node's whole answer, before the next node is tried
 */
export function openChainRpc(
  { chainId, rpcUrls, isLast }: ChainNodes,
  timeoutMs: number,
  countCall?: CountChainCall,
  outage?: NodeOutage,
): ChainRpc {
  const count = (method: string, outcome: string) => countCall?.(chainId, method, outcome);
  return new ChainRpc(
    rpcUrls.map((url) => new RpcEndpoint(url, { timeoutMs, count, isLast })),
    outage,
    chainId,
  );
}
