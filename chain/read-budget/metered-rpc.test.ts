import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ReadBudgetConfig } from '../../config/read-budget-schema.ts';
import { type EthCall, openChainRpc } from '../chain-rpc.ts';
import { MeteredRpc } from './metered-rpc.ts';
import { ReadBudget } from './read-budget.ts';

let server: Server;
const asked: Record<string, unknown>[] = [];

/** A node that answers each call with nothing. */
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks = await request.setEncoding('utf8').toArray();
    const { id, params } = JSON.parse(chunks.join(''));
    asked.push(params[0]);
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x' }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const CALL: EthCall = { to: `0x${'aa'.repeat(20)}`, data: '0x', gas: 50_000_000n, block: 'latest' };

test.each([
  ['its estimate', { likelyGas: 44_000_000 }, {}, 44_000_000],
  ['five million without one', {}, {}, 5_000_000],
  ['its limit when that is less', { gas: 30_000n }, {}, 30_000],
  ['its estimate on a small budget too', { likelyGas: 44_000_000 }, { gasPerMinute: 600_000_000 }, 44_000_000],
  [
    'half of what the least budget can save up',
    { likelyGas: 44_000_000 },
    { gasPerMinute: 160_000_000, wantedPct: 40, othersPct: 40 },
    4_000_000,
  ],
] as const)('a call counts as %s', async (_what, change, rules, gas) => {
  const { port } = server.address() as AddressInfo;
  const budget = new ReadBudget(ReadBudgetConfig.parse(rules));
  const rpc = openChainRpc({ chainId: 1, rpcUrls: [`http://127.0.0.1:${port}`] }, 10_000);
  await new MeteredRpc(rpc, budget, 'worth').call({ ...CALL, ...change }, () => null);
  expect(budget.spent('worth')).toEqual({ calls: 1, gas });
  expect(Object.keys(asked.at(-1) ?? {}).sort()).toEqual(['data', 'gas', 'to']);
});
