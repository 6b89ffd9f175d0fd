import type { Hex } from 'viem';
import { z } from 'zod';

/** A node refused a request. `data` is there when a call reverted. */
export class RpcError extends Error {
  readonly code = 'RPC';
  override readonly name = 'RpcError';
  readonly data: Hex | undefined;

  constructor(method: string, message: string, data: Hex | undefined) {
    super(`${method}: ${message}`);
    this.data = data;
  }
}

const Answer = z.object({
  result: z.unknown().optional(),
  error: z.object({ message: z.string(), data: z.unknown().optional() }).optional(),
});

const HexData = z.custom<Hex>((value) => typeof value === 'string' && value.startsWith('0x'));

/**
 * One JSON-RPC request. Of what viem does for a transaction, a devnet needs nothing: the node holds the keys.
 *
 * @throws RpcError the node's own refusal
 */
export async function request<T>(rpcUrl: string, method: string, params: readonly unknown[]): Promise<T> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result, error } = Answer.parse(await response.json());
  if (error === undefined) return result as T;
  throw new RpcError(method, error.message, HexData.safeParse(error.data).data);
}
