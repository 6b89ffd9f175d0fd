import { type RpcProxy, startRpcProxy } from '../../devnet/rpc-proxy.ts';

/** Runs with two proxies of a node that can be told to fail, and ends them. */
export async function withProxies(
  nodeUrl: string,
  run: (first: RpcProxy, second: RpcProxy) => Promise<void>,
): Promise<void> {
  const [first, second] = await Promise.all([startRpcProxy(nodeUrl), startRpcProxy(nodeUrl)]);
  try {
    await run(first, second);
  } finally {
    await Promise.all([first.stop(), second.stop()]);
  }
}
