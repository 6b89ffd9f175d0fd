import { Queue } from 'bullmq';
import { Hono } from 'hono';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ChainsFile } from '../../../config/chains-schema.ts';
import { createLogger } from '../../../runtime/logger.ts';
import { connectFailFast, connectPatient } from '../../../runtime/redis-connections.ts';
import { createRedisDatabase, type TestRedis } from '../../../test/harness/redis.ts';
import { newUuid, signedTx, submissionOf } from '../../../test/pamm/sample-updates.ts';
import { chainEndpoints } from '../../submit/endpoints.ts';
import { encodeMessage } from '../../submit/message.ts';
import { EndpointQueues } from '../../submit/queue/endpoint-queue.ts';
import { mountQueueBoard } from './queue-board.ts';

const OPERATOR_KEY = 'operator-key-of-this-test-only';
const BUILDER_KEY = 'Bearer key-that-the-builder-gave-us';
const PREFIX = 'board';
const logger = createLogger('test', 'silent');

const { chains } = ChainsFile.parse({
  chains: [
    {
      chainId: 31337,
      name: 'ethereum',
      rpcUrls: ['http://127.0.0.1:1'],
      blockTimeMs: 1000,
      deployments: [],
      pamm: {
        kind: 'ethereum',
        builders: [{ id: 'titan', transport: 'quote-stream', url: 'ws://127.0.0.1:1/', apiKeyEnv: 'TITAN_API_KEY' }],
      },
    },
  ],
});
const env = { TITAN_API_KEY: BUILDER_KEY };
const endpointIds = chains.flatMap((chain) => chainEndpoints(chain, env).map(({ id }) => id));

let redis: TestRedis;
let connection: Redis;
let producing: Redis;
let producer: Queue;
let queues: EndpointQueues;
let app: Hono;
let tx: string;

beforeAll(async () => {
  redis = await createRedisDatabase();
  connection = connectFailFast(redis.url, logger, { commandTimeout: 5_000 });
  app = new Hono();
  queues = new EndpointQueues(connection, PREFIX, logger);
  mountQueueBoard(app, { endpointIds, queues, redis: connection, operatorKey: OPERATOR_KEY });
  producing = connectPatient(redis.url, logger);
  producer = new Queue(endpointIds[0] ?? '', { connection: producing, prefix: PREFIX });
  tx = await signedTx(31337);
  const submission = submissionOf({ tx: tx as `0x${string}`, replacementUuid: newUuid() });
  await producer.add('update', JSON.parse(encodeMessage(submission)));
  await vi.waitFor(() => expect(connection.status).toBe('ready'), { timeout: 30_000 });
});

afterAll(async () => {
  await queues.close();
  await producer.close();
  producing.disconnect();
  connection.disconnect();
  await redis.drop();
});

const basic = (password: string) => `Basic ${Buffer.from(`operator:${password}`).toString('base64')}`;
const get = (path: string, authorization?: string) =>
  app.request(path, authorization === undefined ? {} : { headers: { Authorization: authorization } });

describe('without the operator key', () => {
  test.each([
    ['no header', undefined],
    ['another key', 'Bearer operator-key-of-this-test-onlx'],
    ['a longer key', `Bearer ${OPERATOR_KEY}x`],
    ['another password', basic('wrong')],
    ['no password', `Basic ${Buffer.from(OPERATOR_KEY).toString('base64')}`],
    ['no base64', 'Basic !'],
    ['another scheme', `Digest ${OPERATOR_KEY}`],
    ['an empty token', 'Bearer '],
  ])('nothing is shown: %s', async (_case, header) => {
    for (const path of ['/queues', '/queues/', '/queues/api/queues', '/queues/static/js/main.js']) {
      const response = await get(path, header);
      expect(response.status).toBe(401);
      expect(response.headers.get('WWW-Authenticate')).toMatch(/^Basic /);
      expect(await response.json()).toEqual({ error: 'The operator key is missing or wrong' });
    }
  });
});

describe('with the operator key', () => {
  test('a browser gets the page and all that it loads from here', async () => {
    const page = await get('/queues', basic(OPERATOR_KEY));
    expect(page.status).toBe(200);
    expect(page.headers.get('Content-Security-Policy')).toMatch(/^default-src 'self'/);
    const html = await page.text();
    const base = /<base href="([^"]+)"/.exec(html)?.[1];
    const loaded = [...html.matchAll(/(?:src|href)="(static\/[^"]+\.(?:js|css))"/g)].map(([, path]) => path);
    expect(loaded.length).toBeGreaterThanOrEqual(3);
    for (const path of loaded) {
      const { pathname } = new URL(path ?? '', `http://board.test${base}`);
      const asset = await get(pathname, basic(OPERATOR_KEY));
      expect(asset.status, pathname).toBe(200);
      expect((await asset.text()).length).toBeGreaterThan(1_000);
    }
  });

  test('jobs are shown without their transactions and without the keys of builders', async () => {
    const response = await get(
      `/queues/api/queues?activeQueue=${producer.name}&status=waiting`,
      `Bearer ${OPERATOR_KEY}`,
    );
    expect(response.status).toBe(200);
    const text = await response.text();
    const { queues } = JSON.parse(text) as { queues: { name: string; counts: { waiting: number }; jobs: unknown[] }[] };
    expect(queues.map(({ name }) => name)).toEqual([producer.name]);
    const [queue] = queues.filter(({ name }) => name === producer.name);
    expect(queue).toMatchObject({ counts: { waiting: 1 } });
    expect(text).toContain(`signed transaction of ${(tx.length - 2) / 2} bytes`);
    expect(text).not.toContain(tx);
    expect(text).not.toContain(BUILDER_KEY);
    const [job] = await producer.getJobs(['waiting']);
    for (const path of ['', '/flow', '/logs']) {
      const details = await get(`/queues/api/queues/${producer.name}/${job?.id}${path}`, `Bearer ${OPERATOR_KEY}`);
      expect(details.status, path).toBe(200);
      expect(await details.text(), path).not.toContain(tx);
    }
  });

  test('nothing can be changed', async () => {
    const [job] = await producer.getJobs(['waiting']);
    const changes = [
      ['PUT', `/queues/api/queues/${producer.name}/pause`],
      ['PUT', `/queues/api/queues/${producer.name}/empty`],
      ['PUT', `/queues/api/queues/${producer.name}/${job?.id}/clean`],
      ['PUT', `/queues/api/queues/${producer.name}/obliterate`],
      ['POST', `/queues/api/queues/${producer.name}/add`],
    ] as const;
    for (const [method, path] of changes) {
      const response = await app.request(path, { method, headers: { Authorization: `Bearer ${OPERATOR_KEY}` } });
      expect(response.status, path).toBe(405);
    }
    expect(await producer.getWaitingCount()).toBe(1);
    expect(await producer.isPaused()).toBe(false);
  });
});

test('while Redis is unreachable the page says so', async () => {
  const away = connectFailFast('redis://127.0.0.1:1', logger);
  const other = new Hono();
  mountQueueBoard(other, { endpointIds, queues, redis: away, operatorKey: OPERATOR_KEY });
  const response = await other.request('/queues', { headers: { Authorization: `Bearer ${OPERATOR_KEY}` } });
  expect([response.status, await response.json()]).toEqual([503, { error: 'Redis is unreachable' }]);
  away.disconnect();
});
