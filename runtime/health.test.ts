import { Hono } from 'hono';
import { expect, test, vi } from 'vitest';
import { ConfigError } from '../config/config-error.ts';
import { pass, stopTime } from '../test/harness/stopped-time.ts';
import { type HealthDeps, mountHealth } from './health.ts';
import { createMetrics } from './metrics.ts';

function appWith(checks: HealthDeps['checks']): Hono {
  const app = new Hono();
  mountHealth(app, { metrics: createMetrics('test'), checks });
  return app;
}

test('ready when every check passes', async () => {
  const response = await appWith({ database: async () => null }).request('/ready');
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ ready: true, failures: {} });
});

test('names what is not ready and hides the message of an error that is not ours', async () => {
  const app = appWith({
    database: async () => Promise.reject(new TypeError('postgres://user:secret@10.0.0.1 refused')),
    indexing: async () => 'chain 1 is 40 blocks behind',
    redis: async () => null,
    setting: async () => Promise.reject(new ConfigError('PORT: is no port')),
  });
  const response = await app.request('/ready');
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({
    ready: false,
    failures: { database: 'TypeError', indexing: 'chain 1 is 40 blocks behind', setting: 'PORT: is no port' },
  });
});

test('a check that hangs does not hang the answer', async () => {
  stopTime();
  const response = appWith({ chain: () => new Promise(() => undefined) }).request('/ready');
  await pass(2_000);
  expect(await (await response).json()).toMatchObject({ failures: { chain: 'no answer in time' } });
});

test('metrics are Prometheus text', async () => {
  const response = await appWith({}).request('/metrics');
  expect(response.headers.get('content-type')).toContain('text/plain');
  expect(await response.text()).toMatch(/process_resident_memory_bytes\{process="test"\} \d+/);
});

test('metrics are computed once in a second, however many ask', async () => {
  stopTime();
  const metrics = createMetrics('test');
  const computed = vi.spyOn(metrics, 'metrics');
  const app = new Hono();
  mountHealth(app, { metrics, checks: {} });
  const texts = await Promise.all(Array.from({ length: 20 }, async () => (await app.request('/metrics')).text()));
  expect(new Set(texts).size).toBe(1);
  expect(computed).toHaveBeenCalledTimes(1);
  await pass(999);
  await app.request('/metrics');
  expect(computed).toHaveBeenCalledTimes(1);
  await pass(1);
  await app.request('/metrics');
  expect(computed).toHaveBeenCalledTimes(2);
});

test('checks and details are asked once in a second, however many ask, and a failure stands for a quarter of it', async () => {
  stopTime();
  let requested = 0;
  const app = new Hono();
  const check = async () => (++requested === 1 ? 'down' : null);
  mountHealth(app, { metrics: createMetrics('test'), checks: { check }, details: async () => ({ requested }) });
  const ask = async () => (await app.request('/ready')).json();
  for (const answer of await Promise.all(Array.from({ length: 20 }, ask))) {
    expect(answer).toEqual({ ready: false, failures: { check: 'down' }, requested: 1 });
  }
  await pass(249);
  expect(await ask()).toMatchObject({ requested: 1 });
  await pass(1);
  expect(await ask()).toEqual({ ready: true, failures: {}, requested: 2 });
  await pass(999);
  expect(await ask()).toEqual({ ready: true, failures: {}, requested: 2 });
  await pass(1);
  expect(await ask()).toMatchObject({ requested: 3 });
});
