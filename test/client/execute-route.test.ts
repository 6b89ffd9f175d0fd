import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transform } from 'esbuild';
import { execa } from 'execa';
import { pad, toHex } from 'viem';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { openWorld } from '../harness/open-world.ts';
import { installClient, linkPackages } from './install.ts';

const ADDRESS = `0x${'11'.repeat(20)}`;
const HASH = `0x${'22'.repeat(32)}`;
const LEG = { poolAddress: ADDRESS, zeroForOne: true, tokenOut: ADDRESS, priceLimitX64: '0', amountIn: '7' };
const PLAN = { amountOut: '5', routes: [{ legs: [LEG] }] };
const RECEIPT = { transactionHash: HASH, blockNumber: '0x1', logs: [], status: '0x1', type: '0x2' };

/** What a node returns; undefined: it fails. */
const RESULTS: Readonly<Record<string, unknown>> = {
  eth_call: pad(toHex(1)),
  eth_estimateGas: '0x5208',
  eth_sendTransaction: HASH,
  eth_blockNumber: '0x1',
  eth_getTransactionByHash: { hash: HASH, nonce: '0x0', type: '0x2', blockNumber: '0x1', input: '0x' },
};

const folder = openWorld(async (ends) => {
  const path = await mkdtemp(join(tmpdir(), 'client-route-'));
  ends.defer(() => rm(path, { recursive: true }));
  return { path };
});
const example = openWorld(async () => {
  const client = await installClient(folder.path);
  await linkPackages(client.folder, ['viem']);
  const source = await readFile(join(PROJECT_ROOT, 'client/examples/execute-route.ts'), 'utf8');
  const { code } = await transform(source, { loader: 'ts', format: 'esm' });
  return { program: await client.write('execute-route.mjs', code) };
});

/** Runs the example against an API and a node. @returns how often it sent a swap, and what it printed */
async function run(receiptOf: (sent: number) => object | undefined) {
  let sent = 0;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id, method } = JSON.parse(body);
    if (method === 'eth_sendTransaction') sent += 1;
    const result = method === 'eth_getTransactionReceipt' ? receiptOf(sent) : RESULTS[method];
    const answer = request.url === '/rpc' ? { jsonrpc: '2.0', id, result } : PLAN;
    response.writeHead(request.url === '/rpc' && !result ? 500 : 200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const trade = ['1', `${url}/rpc`, ADDRESS, ADDRESS, ADDRESS, ADDRESS, '7'];
  const { stdout } = await execa('node', [example.program, url, ...trade], { reject: false });
  server.close();
  return { sent, stdout };
}

test('the example sends a swap again that the chain rejected', async () => {
  const { sent, stdout } = await run((times) => (times < 2 ? { ...RECEIPT, status: '0x0' } : RECEIPT));
  expect([sent, stdout]).toEqual([2, 'planned 5, received 0']);
});

test('the example sends no swap again of which it does not know whether it traded', async () => {
  expect(await run(() => undefined)).toEqual({ sent: 1, stdout: '' });
});
