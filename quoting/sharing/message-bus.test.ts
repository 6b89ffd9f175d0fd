import { Redis } from 'ioredis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createLogger } from '../../runtime/logger.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { createRedisDatabase } from '../../test/harness/redis.ts';
import { connectBus, MessageBus } from './message-bus.ts';

const database = startedWorld(createRedisDatabase);
const logger = createLogger('test', 'silent');

test('a process that has caught up has taken all that was passed on before, however much that is', async () => {
  const [publisher, bus] = [
    new Redis(database.url),
    new MessageBus(connectBus(database.url, logger), logger, () => undefined),
  ];
  onTestFinished(() => {
    publisher.disconnect();
    bus.stop();
  });
  const taken: string[] = [];
  const subscribed = vi.fn();
  bus.subscribe('reads', (text) => taken.push(text), subscribed);
  await vi.waitUntil(() => subscribed.mock.calls.length > 0);
  const text = JSON.stringify({ id: 'other', text: 'x'.repeat(100_000) });
  for (let times = 1; times <= 10; times += 1) {
    await Promise.all(Array.from({ length: 20 }, () => publisher.publish('reads', text)));
    await bus.caughtUp();
    expect(taken).toHaveLength(20 * times);
  }
});
