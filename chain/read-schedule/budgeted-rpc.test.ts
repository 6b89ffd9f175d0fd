import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { pass, stopTime } from '../../test/harness/stopped-time.ts';
import { type ChainRpc, openChainRpc } from '../chain-rpc.ts';
import type { EthCall } from '../eth-call.ts';
import type { BlockRef } from '../read-context.ts';
import { BudgetedRpc } from './budgeted-rpc.ts';
import { CallBudget, READ_CLASSES } from './call-budget.ts';

let server: Server;
let rpc: ChainRpc;
let calls = 0;

/** A node that answers each call with nothing. */
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks = await request.setEncoding('utf8').toArray();
    calls += 1;
    const { id } = JSON.parse(chunks.join(''));
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x' }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  rpc = openChainRpc({ chainId: 1, rpcUrls: [`http://127.0.0.1:${port}`] }, 10_000);
});

beforeEach(() => {
  calls = 0;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const BLOCK: BlockRef = { number: 1n, hash: `0x${'01'.repeat(32)}`, timestamp: 1n };
const callAt = (block: EthCall['block']): EthCall => ({ to: `0x${'aa'.repeat(20)}`, data: '0x', block });

test('a request waits until the budget has a call for it', async () => {
  stopTime();
  let now = 0;
  const budget = new CallBudget(20, READ_CLASSES, () => now);
  while (budget.reserve('funded'));
  const reserve = vi.spyOn(budget, 'reserve');
  const answered = new BudgetedRpc(rpc, budget, 'funded').call(callAt('latest'), () => 'answered');
  await pass(1_000);
  expect(reserve.mock.results.length).toBeGreaterThanOrEqual(3);
  expect([calls, reserve.mock.results.some(({ value }) => value)]).toEqual([0, false]);
  now = 600_000;
  await pass(1_000);
  expect(await answered).toBe('answered');
  expect(calls).toBe(1);
});

test('a request that waits for the budget ends with its signal', async () => {
  const budget = new CallBudget(20, READ_CLASSES, () => 0);
  while (budget.reserve('funded'));
  const call = new BudgetedRpc(rpc, budget, 'funded').call(
    { ...callAt('latest'), signal: AbortSignal.timeout(50) },
    () => null,
  );
  await expect(call).rejects.toMatchObject({ code: 'aborted' });
  expect(calls).toBe(0);
});

test('a call with a budget fails when that has none, and one at the same block without a budget continues', async () => {
  let left = 1;
  const scheduled = { block: BLOCK, reserve: () => left-- > 0 };
  expect(await rpc.call({ ...callAt(BLOCK), ...scheduled }, () => 'answered')).toBe('answered');
  await expect(rpc.call({ ...callAt(BLOCK), ...scheduled }, () => null)).rejects.toMatchObject({ code: 'exhausted' });
  await expect(rpc.code(`0x${'aa'.repeat(20)}`, scheduled)).rejects.toMatchObject({ code: 'exhausted' });
  expect(await rpc.call(callAt(BLOCK), () => 'answered')).toBe('answered');
  expect(calls).toBe(2);
});
