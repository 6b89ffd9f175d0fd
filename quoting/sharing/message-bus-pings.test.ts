import { afterEach, expect, test, vi } from 'vitest';
import { createLogger } from '../../runtime/logger.ts';
import { type BusConnections, MessageBus } from './message-bus.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('a subscription is pinged: without commands, one to a machine that is gone looks like one without messages', async () => {
  vi.useFakeTimers();
  const ping = vi.fn(async () => 'PONG');
  const nothing = () => undefined;
  const subscriptions = { on: nothing, ping, disconnect: nothing };
  const connections = { commands: { status: 'ready', disconnect: nothing }, subscriptions };
  const bus = new MessageBus(connections as unknown as BusConnections, createLogger('test', 'silent'), nothing);
  await vi.advanceTimersByTimeAsync(16_000);
  expect(ping).toHaveBeenCalledTimes(3);
  bus.stop();
  await vi.advanceTimersByTimeAsync(16_000);
  expect(ping).toHaveBeenCalledTimes(3);
});
