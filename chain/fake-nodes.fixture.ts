import { ChainRpc } from './chain-rpc.ts';
import { RpcEndpoint, type RpcEndpointOptions } from './rpc-endpoint.ts';

/** Answers a request. */
export type FakeNode = (method: string, params: readonly unknown[]) => Promise<unknown>;

/** A chain of nodes that are functions. */
export const fakeNodes = (nodes: readonly FakeNode[], now: () => number): ChainRpc =>
  new ChainRpc(nodes.map((node) => new FakeEndpoint(node, { timeoutMs: 1_000, count: () => undefined, now })));

/** A node that is a function. */
export class FakeEndpoint extends RpcEndpoint {
  readonly #node: FakeNode;

  constructor(node: FakeNode, options: RpcEndpointOptions) {
    super('http://node', options);
    this.#node = node;
  }

  override request(method: string, params: readonly unknown[]): Promise<unknown> {
    return this.#node(method, params);
  }
}
