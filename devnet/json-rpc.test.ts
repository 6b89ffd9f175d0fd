import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { numberToHex } from 'viem';
import { expect, onTestFinished, test } from 'vitest';
import { startedWorld } from '../test/harness/open-world.ts';
import { startAnvil } from './anvil.ts';
import { RpcError, request } from './json-rpc.ts';

const anvil = startedWorld(() => startAnvil({ chainId: 31_337 }));
/** More than one batch has. */
const BLOCKS = 450;

test('reads of one turn get their own answers, and a refused one its own error', async () => {
  await request(anvil.url, 'anvil_mine', [BLOCKS]);
  const numbers = Array.from({ length: BLOCKS }, (_, number) => numberToHex(number));
  const unread = request(anvil.url, 'eth_call', [{ to: 'nobody' }, 'latest']);
  const blocks = numbers.map((number) =>
    request<{ number: string }>(anvil.url, 'eth_getBlockByNumber', [number, false]),
  );
  await expect(unread).rejects.toThrow(RpcError);
  expect((await Promise.all(blocks)).map(({ number }) => number)).toEqual(numbers);
});

test('a read that a node leaves out of its answers fails', async () => {
  const bodies: string[] = [];
  const node = createServer(async (incoming, response) => {
    bodies.push(await new Response(incoming as never).text());
    response.end('[{"jsonrpc":"2.0","id":1,"result":"second"}]');
  });
  node.listen(0, '127.0.0.1');
  await once(node, 'listening');
  onTestFinished(() => node.closeAllConnections());
  onTestFinished(() => void node.close());
  const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  const [first, second] = ['0x0', '0x1'].map((block) => request(url, 'eth_getBlockByNumber', [block, false]));
  await expect(first).rejects.toThrow('left a request');
  expect(await second).toBe('second');
  expect(bodies).toHaveLength(1);
});
