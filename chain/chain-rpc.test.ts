import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { ChainRpc } from './chain-rpc.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { RpcEndpoint } from './rpc-endpoint.ts';

test('a request that its caller gives up says nothing of the node: it stays on trial', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  let now = 0;
  const breaker = new CircuitBreaker(() => now);
  breaker.open();
  now = 500;
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const endpoint = new RpcEndpoint(url, { timeoutMs: 60_000, count: () => undefined, breaker });
  const heads = new ChainRpc([endpoint]).head(AbortSignal.timeout(50));
  await expect(heads).rejects.toMatchObject({ code: 'aborted' });
  expect([breaker.tryPass(), breaker.tryPass()]).toEqual([true, false]);
  silent.closeAllConnections();
  silent.close();
});
