import { Hono } from 'hono';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import { OutageLog } from '../../runtime/outage-log.ts';
import { type ApiError, unavailable } from '../errors.ts';
import { createErrorHandler } from './error-handler.ts';

const QUIET_MS = 30_000;
const timeout = unavailable(new RpcFailure('timeout', 'x'));
const refusal = unavailable(new SnapshotError('read_failed', 'x', { cause: new RpcFailure('refused', 'x') }));
const moved = unavailable(new SnapshotError('timed_out', 'the chain advanced'));

/** An app whose requests of chain 7 fail as the test says, with the log, the faults and the outage of its nodes. */
function startApp() {
  const clock = { now: 0 };
  const lines: string[] = [];
  const logger = pino({}, { write: (line) => lines.push(JSON.parse(line).msg) });
  const nodes = new OutageLog(logger, { begin: 'begin', end: 'end', quietMs: QUIET_MS, now: () => clock.now });
  const app = new Hono<{ Variables: { fault?: string } }>();
  const faults: (string | undefined)[] = [];
  let error: ApiError = timeout;
  app.use(async (c, next) => {
    await next();
    faults.push(c.get('fault'));
  });
  app.get('*', () => {
    throw error;
  });
  app.onError(createErrorHandler({ chains: new Map([[7, { nodes }]]) }, logger));
  const fail = async (of: ApiError, at = clock.now) => {
    [error, clock.now] = [of, at];
    const { status, headers } = await app.request('/public/v1/evm/7/x/bid_ask');
    return [status, headers.get('Retry-After'), faults.at(-1), nodes.isFailing];
  };
  return { fail, lines };
}

test('a call without an answer begins an outage of the nodes, which has one line', async () => {
  const { fail, lines } = startApp();
  expect(await fail(timeout)).toEqual([503, '2', 'nodes', true]);
  expect(await fail(timeout)).toEqual([503, '2', 'nodes', true]);
  expect(lines).toEqual(['begin']);
});

test.each([
  ['a refusal', refusal],
  ['a head that moved on', moved],
])('%s is no outage of the nodes: each has a line', async (_what, error) => {
  const { fail, lines } = startApp();
  expect(await fail(error)).toEqual([503, null, 'unavailable', false]);
  expect(await fail(error)).toEqual([503, null, 'unavailable', false]);
  expect(lines).toEqual([error.message, error.message]);
});

test('what fails during an outage of the nodes counts as part of it, but does not prolong it', async () => {
  const { fail, lines } = startApp();
  await fail(timeout);
  expect(await fail(moved, QUIET_MS - 1)).toEqual([503, '2', 'nodes', true]);
  expect(await fail(refusal, QUIET_MS)).toEqual([503, null, 'unavailable', false]);
  expect(lines).toEqual(['begin', refusal.message]);
});
